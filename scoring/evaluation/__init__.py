"""The quality of the scorer, by the tables of the paper's section VI; needs scipy."""
