"""Two runs on the same answers compared: which decisions change, in favour of true or untrue ones."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from scoring.evaluation.cases import ALL_CASES, CaseGroup, EvaluationCase
from scoring.evaluation.routing import SendingTable, sending_table
from scoring.evaluation.statistics import Estimate, Share, mean
from scoring.values.exchange import Decision, MessageType
from scoring.values.opinion import Label


@dataclass(frozen=True, slots=True)
class DecisionRow:
    """What the second variant decided about the answers that the first one decided on like this.

    ``auto_send``, ``review`` and ``blocked`` count answers; ``changed`` is the share of those with another
    decision, None where there are no answers.
    """

    decision: Decision
    answers: int
    auto_send: int
    review: int
    blocked: int
    changed: Share | None


@dataclass(frozen=True, slots=True)
class DecisionTable:
    """The decisions of two variants on the answers of one group, rated or not.

    ``same`` is the share of answers with equal decisions, None where there are none. Answers that either
    variant could not judge as it should, for want of a translation, are ``counted_out``.
    """

    group: CaseGroup
    answers: int
    counted_out: int
    same: Share | None
    rows: tuple[DecisionRow, ...]


def decision_table(
    first: Sequence[EvaluationCase], second: Sequence[EvaluationCase], group: CaseGroup = ALL_CASES
) -> DecisionTable:
    """Compare the decisions on the same answers, in the same order."""
    members = [(one, other) for one, other in zip(first, second, strict=True) if group.contains(one)]
    pairs = Counter(
        (one.decision, other.decision)
        for one, other in members
        if one.is_scored_as_requested and other.is_scored_as_requested
    )
    answers = pairs.total()
    return DecisionTable(
        group=group,
        answers=answers,
        counted_out=len(members) - answers,
        same=Share.of(sum(pairs[each, each] for each in Decision), answers),
        rows=tuple(_row(each, pairs) for each in Decision),
    )


def _row(first: Decision, pairs: Counter[tuple[Decision, Decision]]) -> DecisionRow:
    answers = sum(pairs[first, other] for other in Decision)
    return DecisionRow(
        decision=first,
        answers=answers,
        auto_send=pairs[first, Decision.AUTO_SEND],
        review=pairs[first, Decision.REVIEW],
        blocked=pairs[first, Decision.BLOCKED],
        changed=Share.of(answers - pairs[first, first], answers),
    )


#: What a sum in another order, or a number written and read again, may differ by.
_TOLERANCE: Final = 1e-9

# Of what changes, the first here is what somebody who changes thresholds must see first.
_WORST_FIRST: Final = (
    (Label.FALSE, Decision.AUTO_SEND),
    (Label.TRUE, Decision.BLOCKED),
    (None, Decision.AUTO_SEND),
    (None, Decision.BLOCKED),
)


@dataclass(frozen=True, slots=True)
class RunResult:
    """What one run made of an answer."""

    decision: Decision
    score: float | None
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AnswerChange:
    """An answer as both runs have it; ``rating`` and ``truth`` are None if not known."""

    answer_id: str
    language: str | None
    message_type: MessageType
    rating: float | None
    truth: Label | None
    before: RunResult
    after: RunResult

    @property
    def differs(self) -> bool:
        """Whether anything does."""
        return self.decision_differs or self.score_differs or self.reasons_differ

    @property
    def decision_differs(self) -> bool:
        """Whether it goes elsewhere."""
        return self.before.decision is not self.after.decision

    @property
    def score_differs(self) -> bool:
        """Whether its score differs, or only one run has one."""
        before, after = self.before.score, self.after.score
        if before is None or after is None:
            return before is not after
        return not math.isclose(before, after, rel_tol=0, abs_tol=_TOLERANCE)

    @property
    def reasons_differ(self) -> bool:
        """Whether the reasons differ, or come in another order."""
        return self.before.reasons != self.after.reasons


@dataclass(frozen=True, slots=True)
class ReasonShift:
    """How many answers have one leading reason in the first run and another in the second."""

    before: str
    after: str
    answers: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """The decisions on the same answers in two runs.

    ``before`` and ``after`` are of the rated ones, where there are some. ``decided``, ``scored`` and
    ``reasoned`` are the shares of answers that are decided, scored and reasoned otherwise, None where there
    are no answers; ``higher`` of the scores rise and ``lower`` fall, by ``change`` in the mean of all that
    both runs score. ``changes`` are the answers of which anything differs, the worst first.
    """

    answers: int
    rated: int
    decisions: DecisionTable
    before: SendingTable
    after: SendingTable
    decided: Share | None
    scored: Share | None
    reasoned: Share | None
    higher: int
    lower: int
    change: Estimate | None
    shifts: tuple[ReasonShift, ...]
    changes: tuple[AnswerChange, ...]


def compare_runs(first: Sequence[EvaluationCase], second: Sequence[EvaluationCase]) -> Comparison:
    """Compare two runs on the same answers, in the same order; ratings are those of the first."""
    pairs = list(zip(first, second, strict=True))
    every = [_change(*pair) for pair in pairs]
    scores = [(one.score, other.score) for one, other in pairs]
    both = [after - before for before, after in scores if before is not None and after is not None]
    return Comparison(
        answers=len(every),
        rated=sum(case.rating is not None for case in first),
        decisions=decision_table(first, second),
        before=sending_table(first, ALL_CASES),
        after=sending_table(second, ALL_CASES),
        decided=Share.of(sum(each.decision_differs for each in every), len(every)),
        scored=Share.of(sum(each.score_differs for each in every), len(every)),
        reasoned=Share.of(sum(each.reasons_differ for each in every), len(every)),
        higher=sum(each > _TOLERANCE for each in both),
        lower=sum(each < -_TOLERANCE for each in both),
        change=mean(both),
        shifts=_shifts(every),
        changes=tuple(sorted((each for each in every if each.differs), key=_precedence)),
    )


def _change(one: EvaluationCase, other: EvaluationCase) -> AnswerChange:
    return AnswerChange(
        answer_id=one.answer_id,
        language=one.language,
        message_type=one.recognised,
        rating=one.rating,
        truth=one.truth,
        before=RunResult(one.decision, one.score, one.reasons),
        after=RunResult(other.decision, other.score, other.reasons),
    )


def _precedence(change: AnswerChange) -> tuple[bool, int]:
    now = (change.truth, change.after.decision)
    return (
        not change.decision_differs,
        _WORST_FIRST.index(now) if now in _WORST_FIRST else len(_WORST_FIRST),
    )


def _shifts(changes: Iterable[AnswerChange]) -> tuple[ReasonShift, ...]:
    leading = ((each.before.reasons[:1], each.after.reasons[:1]) for each in changes)
    counts = Counter(("".join(before), "".join(after)) for before, after in leading if before != after)
    return tuple(ReasonShift(before, after, count) for (before, after), count in counts.most_common())
