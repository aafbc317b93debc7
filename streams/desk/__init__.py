"""The review desk: the answers that wait for a person, their pages, and the reviews that are published."""
