"""The claims of an answer, and their grounding in passages of the documents."""
