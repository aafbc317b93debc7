"""The stream: answers in from Kafka, verdicts out to Kafka, and the commands around it."""
