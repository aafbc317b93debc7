"""The risk that an answer is untrue, as a worker computes it: named inputs, and a small table of weights."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import exp, log2
from typing import Final, Protocol

from scoring.scorer.profile import rules_of_profile
from scoring.scorer.score import rules_for_kinds
from scoring.values.exchange import MAX_SCORE, MIN_SCORE, MIN_TRUE_RATING
from scoring.values.opinion import Label
from scoring.values.rules import Rule, RuleEffect

_MIDDLE, _HALF_RANGE = (MIN_SCORE + MAX_SCORE) / 2, (MAX_SCORE - MIN_SCORE) / 2
# The logarithm is of this many characters: an answer of such a length has the input 0.
_USUAL_LENGTH = 256

#: The inputs of every deployment, in the order in which few ratings admit them: a judge tells most, then the
#: score. A larger value never means a lower risk; each is 0 where it says nothing.
INPUTS: Final = (
    "judge",
    "score",
    "blocking_rule",
    "review_rule",
    "contradiction",
    "lack_of_support",
    "judge_score",
    "wrong_words",
    "judges_disagree",
    "length",
)
#: Those of them that an opinion gives; without one they are 0.
OPINION_INPUTS: Final = frozenset({"judge", "judge_score", "wrong_words", "judges_disagree"})
_JUDGE: Final = "judge="
#: The version of an answer on which there is no opinion.
NO_JUDGE: Final = f"{_JUDGE}none"
#: Prefixes of inputs that are 1 for one message type or language (whose direction is not known) or one rule.
TYPE, LANGUAGE, RULE = "type:", "language:", "rule:"


class _EvidenceKind(Protocol):
    @property
    def kind(self) -> str: ...


class _MeasuredFeature(Protocol):
    @property
    def evidence(self) -> Sequence[_EvidenceKind]: ...


class MeasuredAnswer(Protocol):
    """What is measured of an answer: a ``ScoredAnswer``, or the record of a verdict."""

    @property
    def score(self) -> float | None: ...  # noqa: D102
    @property
    def support(self) -> float | None: ...  # noqa: D102
    @property
    def contradiction(self) -> float | None: ...  # noqa: D102
    @property
    def message_type(self) -> str: ...  # noqa: D102
    @property
    def language(self) -> str | None: ...  # noqa: D102
    @property
    def profile(self) -> str: ...  # noqa: D102
    @property
    def features(self) -> Sequence[_MeasuredFeature]: ...  # noqa: D102
    @property
    def degraded(self) -> Sequence[str]: ...  # noqa: D102


class StatedOpinion(Protocol):
    """What a judge says: an ``Opinion``, or the record of one."""

    @property
    def label(self) -> str | None: ...  # noqa: D102
    @property
    def confidence(self) -> float: ...  # noqa: D102
    @property
    def score(self) -> float | None: ...  # noqa: D102
    @property
    def mistakes(self) -> Sequence[str]: ...  # noqa: D102
    @property
    def shortened(self) -> bool: ...  # noqa: D102


class NamedOpinion(Protocol):
    """How an opinion was asked for."""

    @property
    def method(self) -> str: ...  # noqa: D102
    @property
    def models(self) -> Sequence[str]: ...  # noqa: D102
    @property
    def prompt_version(self) -> str: ...  # noqa: D102


def rating_group(message_type: str, language: str | None) -> str:
    """Return the name of the group that thresholds may be set for."""
    return f"{message_type} {language or 'und'}"


def is_of_judge(version: str) -> bool:
    """Return whether a name of :func:`rating_versions` is that of a judge, or of none."""
    return version.startswith(_JUDGE)


def rating_versions(
    profile: str, scorer_version: str, model: str | None, opinions: Sequence[NamedOpinion]
) -> frozenset[str]:
    """Return all that the risk of an answer depends on besides the answer; a change of any ends a promise.

    ``model`` is the chatbot's.
    """
    judges = {f"{_JUDGE}{each.method} {'+'.join(each.models)} {each.prompt_version}" for each in opinions}
    versions = f"profile={profile}", f"scorer={scorer_version}", f"model={model or 'unknown'}"
    return frozenset({*versions, *(judges or {NO_JUDGE})})


def risk_inputs(
    answer: MeasuredAnswer, opinions: Sequence[StatedOpinion], characters: int
) -> dict[str, float]:
    """Return the inputs that are not 0, by name; ``characters`` is the length of the answer.

    Of several opinions the last one counts, as in the policy; one that read only parts of the documents says
    nothing for an answer.
    """
    rules = _triggered(answer)
    last = opinions[-1] if opinions else None
    labels = {each.label for each in opinions}
    found = {
        "judge": _judge(last) if last else 0.0,
        "score": _below_middle(answer.score),
        "blocking_rule": float(any(rule.effect is RuleEffect.BLOCK for rule in rules)),
        "review_rule": float(any(rule.effect is RuleEffect.REVIEW for rule in rules)),
        "contradiction": answer.contradiction or 0.0,
        "lack_of_support": 0.0 if answer.support is None else 0.5 - answer.support,
        "judge_score": _below_middle(last.score) if last else 0.0,
        "wrong_words": float(bool(last and last.mistakes)),
        "judges_disagree": float({Label.TRUE, Label.FALSE} <= labels),
        "length": log2(max(characters, 1) / _USUAL_LENGTH) / 2,
        f"{TYPE}{answer.message_type}": 1.0,
        f"{LANGUAGE}{answer.language or 'und'}": 1.0,
        **{f"{RULE}{rule.reason}": 1.0 for rule in rules if rule.counts_against_answer},
    }
    return {name: value for name, value in found.items() if value}


def no_check_objects(answer: MeasuredAnswer) -> bool:
    """Return whether an answer has a score, nothing that could not be checked, and no rule against it.

    No fitted threshold sends any other answer.
    """
    objects = any(rule.counts_against_answer for rule in _triggered(answer))
    return answer.score is not None and not answer.degraded and not objects


def _triggered(answer: MeasuredAnswer) -> Sequence[Rule]:
    kinds = {evidence.kind for feature in answer.features for evidence in feature.evidence}
    return _rules(frozenset(kinds), answer.profile)


@lru_cache(maxsize=1_024)
def _rules(kinds: frozenset[str], profile: str) -> Sequence[Rule]:
    # Few combinations, of many answers.
    return tuple(rules_for_kinds(kinds, rules_of_profile(profile))) if kinds else ()


def _below_middle(score: float | None) -> float:
    return 0.0 if score is None else (_MIDDLE - score) / _HALF_RANGE


def _judge(opinion: StatedOpinion) -> float:
    """Return the confidence that an answer is untrue, in [-1, 1]: negative if the judge finds it true."""
    if opinion.label == Label.FALSE:
        return opinion.confidence
    has_reservation = opinion.shortened or opinion.mistakes or (opinion.score or MIN_SCORE) < MIN_TRUE_RATING
    return -opinion.confidence if opinion.label == Label.TRUE and not has_reservation else 0.0


@dataclass(frozen=True, slots=True)
class RiskModel:
    """A logistic model of the probability that an answer is untrue: an intercept, and a weight an input.

    >>> RiskModel("example", 0.0, (("judge", 4.0),)).risk({"judge": -1.0, "length": 0.5})
    0.01798620996209156
    """

    name: str
    intercept: float
    weights: tuple[tuple[str, float], ...]

    def risk(self, inputs: Mapping[str, float]) -> float:
        """Return the risk of an answer with these inputs, in (0, 1)."""
        value = self.intercept
        for name, weight in self.weights:
            value += weight * inputs.get(name, 0.0)
        return 1 / (1 + exp(-max(-700.0, min(700.0, value))))

    @property
    def identity(self) -> str:
        """The name with a hash of the weights."""
        content = repr((self.intercept, self.weights))
        return f"{self.name}+{hashlib.sha256(content.encode()).hexdigest()[:8]}"


#: Set before any measurement, and fitted to nothing, so that all ratings can test it: a certain judge counts
#: four times as much as the ends of the score, and a rule that objects half as much as a judge.
SHIPPED_RISK: Final = RiskModel(
    "shipped-1", 0.0, (("judge", 4.0), ("score", 1.0), ("blocking_rule", 2.0), ("review_rule", 1.0))
)
