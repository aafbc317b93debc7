"""The last answers of each decision, kept within bounds, and what of them is asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

from schemas.records import Verdict
from scoring.policy import Policy
from streams.explaining.explaining import explained
from streams.explaining.explanation import Found
from streams.explaining.sieve import Sieve, codes_of, language_of
from streams.pages.excerpt import IN_FULL, excerpt, told
from streams.pages.shown import cut, without_texts
from streams.pages.views import Answers, Choices, Explained

#: Of each decision.
KEPT_ANSWERS: Final = 200
#: Of all records together. In memory a verdict takes some times as much: with this never more than about
#: 100 MB, and usually below 10.
KEPT_BYTES: Final = 8 * 1024 * 1024
_MOST_CHOICES: Final = 100


@dataclass(frozen=True, slots=True)
class Arrived:
    """A verdict as it came, and how many bytes its record has."""

    found: Found
    size: int


_Key = tuple[str, str]  # decision and verdict_id: one that was held, and is judged again, may then be sent


class LastAnswers:
    """The newest verdicts of each decision, each once; without texts none of their text is kept.

    One thread may take verdicts in while others ask: what is kept is replaced as a whole.

    Args:
        texts: whether questions and answers may be shown.
        policies: those that are at hand, to tell the thresholds that decided.
        each: how many of each decision are kept.
        size: how many bytes of records are kept in all.
    """

    def __init__(
        self,
        texts: bool,
        policies: Iterable[Policy] = (),
        each: int = KEPT_ANSWERS,
        size: int = KEPT_BYTES,
    ) -> None:
        self._texts = texts
        self._policies = tuple(policies)
        self._each = each
        self._size = size
        self._kept: dict[_Key, Arrived] = {}
        self.number = 0

    def take_in(self, arrived: Iterable[Arrived]) -> None:
        """Take verdicts in; ``number`` grows when what is kept changes."""
        before = {key: each.found.verdict for key, each in self._kept.items()}
        kept = dict(self._kept)
        for each in arrived:
            found = each.found
            if not self._texts:
                found = replace(found, verdict=without_texts(found.verdict))
            key = (found.verdict.decision, found.verdict.verdict_id)
            kept[key] = Arrived(found, each.size)
        self._kept = self._within_bounds(kept)
        self.number += {key: each.found.verdict for key, each in self._kept.items()} != before

    def chosen(self, sieve: Sieve, most: int) -> Answers:
        """Give those that pass the sieve, newest first, ``most`` of them at most."""
        number, kept = self.number, [each.found.verdict for each in self._kept.values()]
        passed = [verdict for verdict in kept if sieve.passes(verdict)]
        shown = tuple(told(verdict, texts=self._texts) for verdict in passed[:most])
        return Answers(number, self._texts, len(passed), _choices(kept), shown)

    def explained(self, verdict_id: str, decision: str) -> Explained | None:
        """Explain one of those that are kept; None where it is not, or not any more."""
        if (kept := self._kept.get((decision, verdict_id))) is None:
            return None
        verdict = kept.found.verdict
        others = [
            each.found for (_, other), each in self._kept.items() if other == verdict_id and each is not kept
        ]
        explanation = explained(kept.found, self._policies, others)
        return Explained(
            self._texts,
            replace(explanation, verdict=cut(verdict)),
            excerpt(verdict, IN_FULL) if self._texts else None,
        )

    def _within_bounds(self, kept: dict[_Key, Arrived]) -> dict[_Key, Arrived]:
        """Give the newest, newest first."""
        newest = sorted(
            kept.items(), key=lambda item: (-item[1].found.verdict.scored_at.timestamp(), item[0])
        )
        left: dict[_Key, Arrived] = {}
        of_decision: Counter[str] = Counter()
        size = 0
        for key, each in newest:
            if of_decision[key[0]] < self._each and size + each.size <= self._size:
                of_decision[key[0]] += 1
                size += each.size
                left[key] = each
        return left


def _choices(verdicts: Collection[Verdict]) -> Choices:
    return Choices(
        _first({each.message_type for each in verdicts}),
        _first(set(map(language_of, verdicts))),
        _first({code for each in verdicts for code in codes_of(each)}),
    )


def _first(names: set[str]) -> tuple[str, ...]:
    return tuple(islice(sorted(names), _MOST_CHOICES))
