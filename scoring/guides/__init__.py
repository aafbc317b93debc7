"""Guides of documents, and answers that quote them."""
