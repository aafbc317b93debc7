"""Filters that select verdicts, and the explanation of one verdict."""
