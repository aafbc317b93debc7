"""The topics, described for those who build against them: an AsyncAPI document."""
