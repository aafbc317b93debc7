"""Assessing in processes of their own."""
