"""`truthgate dead-letters`: list, replay and discard."""
