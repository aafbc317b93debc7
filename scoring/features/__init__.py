"""The heuristics of the paper, one a file, each measured on its own."""
