"""The claims of a text, clause by clause, and the clauses of a document that speak of the same."""
