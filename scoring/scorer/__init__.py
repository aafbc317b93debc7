"""From an exchange to its score: message type, refusal, features, claims."""
