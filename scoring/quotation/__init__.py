"""Answers that are a section of a published document, character for character, in reply to its heading."""
