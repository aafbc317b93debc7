"""Results that are kept in a bounded file and shared by processes."""
