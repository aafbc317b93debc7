"""The client of endpoints that speak OpenAI's chat completions, for the methods of ``scoring.judges``."""
