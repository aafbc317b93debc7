"""Bounded caches on disk that processes share, and guards for calls to services."""
