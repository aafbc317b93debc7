"""The accuracy of opinions: by label, by dimension, and by confidence (papers 002 and 004)."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from scoring.evaluation.cases import RATINGS, EvaluationCase
from scoring.evaluation.statistics import MIN_RESAMPLED, Estimate, FloatArray, Share, paired_estimates
from scoring.values.opinion import Label, Opinion


@dataclass(frozen=True, slots=True)
class JudgedCase:
    """An answer as the checks and people see it, and a judge's opinion on it."""

    case: EvaluationCase
    opinion: Opinion

    @property
    def truth(self) -> Label | None:
        """What the answer is, as people say."""
        return self.case.truth

    @property
    def consistent(self) -> bool | None:
        """Whether all of the answer is in the documents: as people say, or by its rating.

        5 is consistent and 3 or less is not; 4 is neither, since most often it has a harmless addition.
        """
        rating = self.case.rounded_rating
        if self.case.consistent is not None or rating is None:
            return self.case.consistent
        return {RATINGS[-1]: True, RATINGS[-2]: None}.get(rating, False)

    @property
    def is_right(self) -> bool:
        """Whether the opinion has the label that the answer deserves; no label is not right."""
        return self.opinion.label is self.truth and self.truth is not None

    @property
    def is_wrong(self) -> bool:
        """Whether the opinion has another label; no label is not wrong."""
        return None not in (self.opinion.label, self.truth) and not self.is_right


def with_truth(judged: Iterable[JudgedCase]) -> Sequence[JudgedCase]:
    """Return the answers of which it is known what they are."""
    return [each for each in judged if each.truth is not None]


def rated(judged: Iterable[JudgedCase]) -> Sequence[JudgedCase]:
    """Return the answers that have a rating."""
    return [each for each in judged if each.case.rating is not None]


_CODES = {label: code for code, label in enumerate(Label)}


@dataclass(frozen=True, slots=True)
class LabelRow:
    """The answers that are this, and the share of them whose opinion says so; None of no answers."""

    label: Label
    answers: int
    accuracy: Share | None


@dataclass(frozen=True, slots=True)
class LabelConfusion:
    """How many answers that are one thing have an opinion with a label, or with none."""

    truth: Label
    label: Label | None
    count: int


@dataclass(frozen=True, slots=True)
class LabelTable:
    """Table 1 for one judge.

    ``macro`` is the mean accuracy over those labels that occur. An opinion without a label is not right;
    ``unsure`` counts these. ``left_out`` are answers of which it is not known what they are.
    """

    answers: int
    left_out: int
    unsure: int
    rows: tuple[LabelRow, ...]
    macro: Estimate | None
    confusions: tuple[LabelConfusion, ...]


def label_table(judged: Sequence[JudgedCase]) -> LabelTable:
    """Compare the labels of opinions with what the answers are."""
    known = with_truth(judged)
    taken = Counter((each.truth, each.opinion.label) for each in known)
    return LabelTable(
        answers=len(known),
        left_out=len(judged) - len(known),
        unsure=sum(each.opinion.label is None for each in known),
        rows=tuple(_row(label, known) for label in Label),
        macro=_macro(known),
        confusions=tuple(
            LabelConfusion(truth, label, count) for (truth, label), count in taken.most_common() if truth
        ),
    )


def macro_accuracy(truths: FloatArray, right: FloatArray, axis: int, codes: Sequence[int]) -> FloatArray:
    """Return the mean over labels of the share that is right (paper 002, equation 2)."""
    of_label = np.stack([truths == code for code in codes])
    counts = of_label.sum(axis)
    hits = (of_label & (right > 0)).sum(axis)
    # A resample may lack a label.
    return np.asarray(np.nanmean(np.where(counts, hits / np.maximum(counts, 1), np.nan), axis=0))


def _macro(known: Sequence[JudgedCase]) -> Estimate | None:
    truths = [_CODES[each.truth] for each in known if each.truth]
    if not truths:
        return None
    counts = Counter(truths)
    statistic = partial(macro_accuracy, codes=sorted(counts))
    found = paired_estimates(statistic, truths, [each.is_right for each in known])[0]
    # A mean over labels is as sure as the rarest of them.
    return Estimate(found.value) if found and min(counts.values()) < MIN_RESAMPLED else found


def _row(label: Label, known: Sequence[JudgedCase]) -> LabelRow:
    members = [each for each in known if each.truth is label]
    return LabelRow(label, len(members), Share.of(sum(each.is_right for each in members), len(members)))


# Consistent is what has nothing added (004, section I); relevant is what asks for the same by half or more.
_CONSISTENT_FROM, _RELEVANT_FROM = 1.0, 0.5


@dataclass(frozen=True, slots=True)
class Dimensions:
    """How often opinions agree with people; None where they do not measure it, or no person has said."""

    consistency: Share | None
    relevance: Share | None


def dimensions(judged: Sequence[JudgedCase]) -> Dimensions:
    """Compare both dimensions where opinion and people have them."""
    return Dimensions(
        consistency=_agreement(
            ((each.opinion.consistency, each.consistent) for each in judged), _CONSISTENT_FROM
        ),
        relevance=_agreement(
            ((each.opinion.relevance, each.case.relevant) for each in judged), _RELEVANT_FROM
        ),
    )


def _agreement(pairs: Iterable[tuple[float | None, bool | None]], threshold: float) -> Share | None:
    agreed = [(value >= threshold) is said for value, said in pairs if value is not None and said is not None]
    return Share.of(sum(agreed), len(agreed))


#: The thresholds that figures are shown for; models state few values between .9 and 1.
TAUS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)


@dataclass(frozen=True, slots=True)
class FlagRow:
    """One threshold: an opinion with less confidence goes to a person, and one without a label always.

    ``flagged`` is the share of the wrong labels that a person sees (Figure 6a), None where none is wrong;
    ``reviewed`` that of all opinions (Figure 6b).
    """

    tau: float
    flagged: Share | None
    reviewed: Share | None


def flag_rows(judged: Sequence[JudgedCase], taus: Sequence[float] = TAUS) -> tuple[FlagRow, ...]:
    """Count what each threshold flags."""
    return tuple(_flags_row(judged, tau) for tau in taus)


def _flags_row(judged: Sequence[JudgedCase], tau: float) -> FlagRow:
    wrong = [each.opinion.confidence < tau for each in judged if each.is_wrong]
    reviewed = [each.opinion.label is None or each.opinion.confidence < tau for each in judged]
    return FlagRow(tau, Share.of(sum(wrong), len(wrong)), Share.of(sum(reviewed), len(reviewed)))
