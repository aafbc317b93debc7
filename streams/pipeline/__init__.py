"""The stages from an answer to its verdict, with their metrics and traces; for streams and for files."""
