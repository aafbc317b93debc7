"""The corpus of rated answers: real help in Dutch and English, and how its documents are made."""
