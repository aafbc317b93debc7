"""The contract written down for those who build against it: an AsyncAPI document, and tables for people."""
