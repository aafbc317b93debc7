"""What is told about the work, beside the work: metrics and logs."""
