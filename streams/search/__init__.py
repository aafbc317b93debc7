"""Retrieval: finds passages of the documents for answers that come without context."""
