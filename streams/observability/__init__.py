"""Observability: metrics, traces, logs and health."""
