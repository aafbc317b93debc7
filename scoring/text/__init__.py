"""Texts prepared for comparison: parses, words, clauses, marked spans, greetings, language."""
