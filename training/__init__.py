"""Trains the Dutch pipeline ``nl_truthgate``; nothing here is imported when answers are judged."""
