"""From an exchange to its assessment: message type, refusal, features, score."""
