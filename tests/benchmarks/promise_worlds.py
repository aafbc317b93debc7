"""Streams of answers whose truth is known, to see how often a promise about them is broken."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scoring.guarantees.joined_ratings import AuditDraw, JoinedRating, PersonsReview, VerdictFacts
from scoring.policy.certificates import FittedThresholds
from scoring.values.exchange import Decision

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
VERSIONS = frozenset({"profile=support", "judge=single"})
#: So many answers stand for all that a stream will ever have.
_ALL = 50_000


@dataclass(frozen=True, slots=True)
class Answers:
    """Answers by columns: whether each is untrue and how probable that was, its inputs, and its group."""

    untrue: Flags
    expected: Floats
    judge: Floats
    score: Floats
    group: npt.NDArray[np.int64]

    def repeated(self, times: int) -> "Answers":
        """Return each answer so many times in a row."""
        return Answers(
            np.repeat(self.untrue, times),
            np.repeat(self.expected, times),
            np.repeat(self.judge, times),
            np.repeat(self.score, times),
            np.repeat(self.group, times),
        )

    def risk(self, thresholds: FittedThresholds) -> Floats:
        """Return the risks of a model that has no other inputs than these."""
        weights = dict(thresholds.model.weights)
        value = thresholds.model.intercept + weights.pop("judge", 0.0) * self.judge
        value = value + weights.pop("score", 0.0) * self.score
        assert not any(weights.get(name, 0.0) for name in weights if name.startswith("type"))
        return 1 / (1 + np.exp(-value))


@dataclass(frozen=True, slots=True)
class World:
    """How answers come about: the share of untrue ones, and what judge and score know of them.

    ``judge_wrong`` is how often the judge takes an untrue answer for true, or the other way round, and
    ``honest`` whether it is less confident then. ``groups`` differ in how many of their answers are untrue.
    ``flat``: nothing tells true from untrue. ``trap``: those that the judge is surest of are untrue as often
    as this. ``reviewers_wrong`` is how often a reviewer says the opposite, ``reviewers`` how many rate each.
    ``sent_share`` of what the shipped risk finds best is sent already, and drawn by an audit with ``audit``;
    None: it is not drawn at all. Of the held ones reviewers rate the share ``rated``, and with ``favours``
    rather the true ones. Each answer comes ``repeats`` times in a row.
    """

    untrue: float = 0.3
    judge_wrong: float = 0.03
    honest: bool = True
    groups: int = 1
    flat: bool = False
    trap: float = 0.0
    reviewers_wrong: float = 0.0
    reviewers: int = 1
    sent_share: float = 0.0
    audit: float | None = 0.05
    rated: float = 1.0
    favours: bool = False
    repeats: int = 1

    def answers(self, chance: np.random.Generator, number: int = _ALL) -> Answers:
        """Draw answers."""
        group = chance.integers(self.groups, size=number)
        tilt = np.linspace(0.3, 1.7, self.groups)[group] if self.groups > 1 else np.ones(number)
        untrue = chance.random(number) < self.untrue * tilt
        wrong = chance.random(number) < np.minimum(self.judge_wrong * tilt**2, 0.5)
        sure = chance.beta(12, 1.2, number)
        if self.honest:
            sure = np.where(wrong, chance.beta(4, 1.5, number), sure)
        judge = np.where(untrue ^ wrong, sure, -sure)
        score = np.clip(chance.normal(np.where(untrue, 2.7, 3.3), 1.0), 1, 5)
        if self.flat:
            judge, score = -sure, chance.uniform(1, 5, number)
        if self.trap:
            is_trap = judge < np.quantile(judge, 0.1)
            untrue = np.where(is_trap, chance.random(number) < self.trap, untrue)
        expected = np.full(number, self.untrue) if self.flat else untrue.astype(float)
        return Answers(untrue, expected, judge, (3 - score) / 2, group)

    def ratings(self, chance: np.random.Generator, number: int) -> list[JoinedRating]:
        """Draw verdicts in the order of their times, with what reviewers say of them."""
        answers = self.answers(chance, number // self.repeats).repeated(self.repeats)
        quality = -4 * answers.judge - answers.score
        sent = quality > np.quantile(quality, 1 - self.sent_share)
        chosen = chance.random(number) < self.rated
        if self.favours:
            chosen &= ~answers.untrue | (chance.random(number) < 0.3)
        probability = np.where(sent, self.audit or 0.0, 1.0)
        drawn = np.where(sent, chance.random(number) < probability, True)
        is_rated = np.where(sent, drawn, chosen)
        seen = [
            answers.untrue ^ (chance.random(number) < self.reviewers_wrong) for _ in range(self.reviewers)
        ]
        return [
            JoinedRating(
                VerdictFacts(
                    f"v{place}",
                    Decision.AUTO_SEND if sent[place] else Decision.REVIEW,
                    f"group {answers.group[place]}",
                    place,
                    {"judge": float(answers.judge[place]), "score": float(answers.score[place])},
                    may_be_sent=True,
                    versions=VERSIONS,
                    answer_key=f"a{place // self.repeats}",
                ),
                _reviews(place, [bool(each[place]) for each in seen]) if is_rated[place] else (),
                AuditDraw(float(probability[place]), bool(drawn[place])),
            )
            for place in range(number)
        ]


def _reviews(place: int, untrue: Sequence[bool]) -> tuple[PersonsReview, ...]:
    return tuple(
        PersonsReview(f"r{place}-{n}", f"v{place}", f"p{n}", place, "none", "desk", 1 if each else 5)
        for n, each in enumerate(untrue)
    )


#: Worlds by name, with how many verdicts are drawn of each and the promised share.
WORLDS: dict[str, tuple[World, int, float]] = {
    "60 ratings": (World(), 60, 0.05),
    "200 ratings": (World(), 200, 0.05),
    "600 ratings": (World(), 600, 0.05),
    "rare errors, 1%": (World(untrue=0.04, judge_wrong=0.05), 1_500, 0.01),
    "40 small groups": (World(groups=40), 800, 0.05),
    "4 groups": (World(groups=4), 2_400, 0.05),
    "overconfident judge": (World(judge_wrong=0.12, honest=False), 600, 0.05),
    "reviewers wrong 5%": (World(reviewers_wrong=0.05), 600, 0.05),
    "same, 10% promised": (World(reviewers_wrong=0.05), 600, 0.1),
    "two who differ, 10%": (World(reviewers_wrong=0.05, reviewers=2), 600, 0.1),
    "a third decides, 5%": (World(reviewers_wrong=0.05, reviewers=3), 600, 0.05),
    "nothing tells, 5.1% untrue": (World(untrue=0.051, flat=True), 600, 0.05),
    "the same, each 20 times": (World(untrue=0.051, flat=True, repeats=20), 600, 0.05),
    "judge surest where wrong": (World(trap=0.12), 600, 0.05),
    "half sent, 20% audited": (World(sent_share=0.5, audit=0.2), 2_000, 0.05),
    "only held rated": (World(sent_share=0.5, audit=None), 600, 0.05),
    "reviewers choose, 60%": (World(untrue=0.2, judge_wrong=0.1, rated=0.6, favours=True), 800, 0.05),
}
