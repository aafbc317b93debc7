"""Clients of Apache Kafka, topics, and records as they came."""
