"""Figures that follow from data: tables and lists of documents, and what an answer computes from them."""
