"""The quality of opinions, by the tables of papers 002 and 004, and what they are worth beside the checks."""
