"""A cross-encoder of question, claim and passage, and how it was trained: no part of the library."""
