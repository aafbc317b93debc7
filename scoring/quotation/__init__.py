"""Answers that are a whole document, character for character, in reply to its title."""
