"""The observer of a budget, told of it beside the work."""

from __future__ import annotations

from streams.judging.budget.amounts import Amount


class Observer:
    """Hears what happens, and ignores what no subclass of it makes use of; must return at once."""

    def used(self, amount: Amount) -> None:
        """So much was used for one opinion."""

    def refused(self, priority: str) -> None:
        """An opinion was not asked for, since too little was left for its priority."""

    def not_kept(self, error: str) -> None:
        """What was spent could not be written; ``error`` is the system's name of why."""
