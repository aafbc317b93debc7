"""The board of what the demo has seen: verdicts, each counted once, rates, and what is still missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from schemas import Verdict
from streams.answers.verdict import verdict_id
from streams.cli.output import plural
from streams.rates import Tally, counted

# The terminal shows a few; the rest is counted.
_RECENT = 100


class Board:
    """Collects outcomes until every answer that was to be sent has one.

    Args:
        answer_ids: the answers that must get a verdict.
        dead_letters: how many dead letters are expected beside them.
    """

    def __init__(self, answer_ids: Iterable[str], dead_letters: int = 0) -> None:
        self._expected = {verdict_id(answer_id) for answer_id in answer_ids}
        self._expected_letters = dead_letters
        self._missing = set(self._expected)
        self.sent = 0
        self.letters = 0
        self.repeated = 0
        self.decisions: Counter[str] = Counter()
        self.tallies: dict[str, Tally] = {}
        self.recent: list[Verdict] = []

    def add(self, verdict: Verdict) -> bool:
        """Take a verdict in; False when it was seen before, or is not one of ours."""
        if verdict.verdict_id not in self._missing:
            self.repeated += verdict.verdict_id in self._expected
            return False
        self._missing.remove(verdict.verdict_id)
        self.decisions[verdict.decision] += 1
        self.tallies = counted(self.tallies, verdict)
        self.recent = [*self.recent, verdict][-_RECENT:]
        return True

    def add_letter(self) -> None:
        """Take a dead letter in."""
        self.letters += 1

    @property
    def total(self) -> int:
        """How many outcomes are expected in all."""
        return len(self._expected) + self._expected_letters

    @property
    def settled(self) -> int:
        """How many outcomes there are."""
        return len(self._expected) - len(self._missing) + min(self.letters, self._expected_letters)

    @property
    def complete(self) -> bool:
        """Whether everything that was sent has its verdict or its dead letter."""
        return self.settled == self.total

    def summary(self) -> str:
        """Say what came of all answers, in one line."""
        told = [
            f"{self.decisions['auto_send']} sent",
            f"{self.decisions['review']} held for review",
            f"{self.decisions['blocked']} blocked",
        ]
        letters = plural(self.letters, "dead letter")
        lost = f"{self.total - self.settled} lost"
        return f"{plural(self.decisions.total(), 'answer')} judged: {', '.join(told)}; {letters}, {lost}"
