"""What tests share; nothing here is a stand-in for Kafka."""
