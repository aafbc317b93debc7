"""Translating what is judged into English, over deep-translator: limited, cached, and never required."""
