"""Retrieval finds the passages that an answer should rest on, for answers that come without any."""
