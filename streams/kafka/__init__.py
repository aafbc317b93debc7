"""Clients of Apache Kafka, the topics, and received records."""
