"""Small changes to the code, one at a time, that unit tests should notice; see README.md here."""
