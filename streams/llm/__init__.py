"""Language models as judges: which answers are asked about, by which endpoint, and within which budget."""
