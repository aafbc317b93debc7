"""The judges: methods that ask a language model for an opinion on an answer, without any input or output."""
