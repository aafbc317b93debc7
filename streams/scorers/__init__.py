"""The scoring processes: scoring away from the loop that moves answers."""
