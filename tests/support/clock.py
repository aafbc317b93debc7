"""A clock that a test moves."""


class Clock:
    """Gives the seconds that a test has set; starts at 1,000 where nothing is said."""

    def __init__(self, now: float = 1000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now
