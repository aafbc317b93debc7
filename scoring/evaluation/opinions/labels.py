"""The accuracy by label, and the mean over labels (paper 002, section 5.1, Table 1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from scoring.evaluation.opinions.judged import Judged, with_truth
from scoring.evaluation.statistics import Estimate, Numbers, Share, paired_estimates
from scoring.values.opinion import Label

_CODES = {label: code for code, label in enumerate(Label)}


@dataclass(frozen=True, slots=True)
class LabelRow:
    """The answers that are this, and the share of them whose opinion says so; None of no answers."""

    label: Label
    answers: int
    accuracy: Share | None


@dataclass(frozen=True, slots=True)
class Confusion:
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
    confusions: tuple[Confusion, ...]


def label_table(judged: Sequence[Judged]) -> LabelTable:
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
            Confusion(truth, label, count) for (truth, label), count in taken.most_common() if truth
        ),
    )


def macro_accuracy(truths: Numbers, right: Numbers, axis: int, codes: Sequence[int]) -> Numbers:
    """Return the mean over labels of the share that is right (paper 002, equation 2)."""
    of_label = np.stack([truths == code for code in codes])
    counts = of_label.sum(axis)
    hits = (of_label & (right > 0)).sum(axis)
    # A resample may lack a label.
    return np.asarray(np.nanmean(np.where(counts, hits / np.maximum(counts, 1), np.nan), axis=0))


def _macro(known: Sequence[Judged]) -> Estimate | None:
    truths = [_CODES[each.truth] for each in known if each.truth]
    if not truths:
        return None
    statistic = partial(macro_accuracy, codes=sorted(set(truths)))
    return paired_estimates(statistic, truths, [each.is_right for each in known])[0]


def _row(label: Label, known: Sequence[Judged]) -> LabelRow:
    members = [each for each in known if each.truth is label]
    return LabelRow(label, len(members), Share.of(sum(each.is_right for each in members), len(members)))
