"""The local copy of the help documents: its store, its versions, and the company's terms."""
