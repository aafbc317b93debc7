"""Texts prepared for comparing: parses, words, clauses, marks, greetings, translations."""
