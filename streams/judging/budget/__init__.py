"""The budget for asking language models: how much may be spent on it, and what was."""
