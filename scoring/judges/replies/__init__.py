"""The forms of replies, and the strict reading of what a model sends for them."""
