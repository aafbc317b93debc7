"""Delivery without loss: committable offsets, the keyed executor, awaited publishing, dead letters."""
