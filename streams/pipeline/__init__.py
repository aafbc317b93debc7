"""The way of an answer: context, steps, verdict, and what is told of it; online and offline."""
