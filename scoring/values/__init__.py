"""What goes into the scorer and what comes out of it."""
