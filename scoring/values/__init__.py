"""The typed values that go into the scorer and come out of it."""
