"""The claims of an answer, and the passages of the documents that have what they say."""
