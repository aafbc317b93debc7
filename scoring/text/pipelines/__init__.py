"""The package's own Dutch spaCy pipeline (``nl_truthgate``)."""
