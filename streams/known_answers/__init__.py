"""Known answers: persons decided about them; the desk writes them to a topic, and every worker follows it."""
