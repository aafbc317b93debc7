"""Nothing is lost here: offsets that are safe to commit, ordered work, awaited publishing, dead letters."""
