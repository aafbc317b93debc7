"""Scorers in the place of the pool of scoring processes."""

from scoring import Scorer
from scoring.values.exchange import Exchange
from scoring.values.scored_answer import ScoredAnswer


class Scoring:
    """Scores in this process."""

    def __init__(self) -> None:
        self._scorer = Scorer()

    async def score(self, exchange: Exchange, degraded: tuple[str, ...]) -> ScoredAnswer:
        return self._scorer.score(exchange, degraded)


class Failing:
    """Raises what it is given."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    async def score(self, exchange: Exchange, degraded: tuple[str, ...]) -> ScoredAnswer:
        raise self._error
