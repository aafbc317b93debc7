"""Verdicts as people look for them and read them: which are meant, and everything about one."""
