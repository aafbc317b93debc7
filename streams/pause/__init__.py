"""Holds on sending: what operators say of it in a topic, and every worker that follows them."""
