"""Context for answers: a local copy of the help documents, and what an answer is judged against."""
