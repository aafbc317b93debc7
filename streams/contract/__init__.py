"""The contract written down for those who build against it, as an AsyncAPI document."""
