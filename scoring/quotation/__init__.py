"""Answers that are a published guide, character for character, in reply to its title."""
