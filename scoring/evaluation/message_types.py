"""The message types of questions, and how well they are recognised (paper, VI-B1, Table III)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np
import numpy.typing as npt

from scoring.evaluation.cases import ALL_CASES, CaseGroup, EvaluationCase
from scoring.evaluation.statistics import MIN_RESAMPLED, Estimate, FloatArray, paired_estimates
from scoring.values.exchange import MessageType

ALL = "all"
ALL_EQUAL = "all, types equal"
_SCORED = (MessageType.BINARY, MessageType.INSTRUCTION)
_SCORED_NAME = "binary or instruction"
_CODES = {each: code for code, each in enumerate(MessageType)}

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class TypeRow:
    """One row of Table III: four measures in [0, 1] of one type, or of all; None where undefined.

    ``labelled`` and ``recognised`` count the questions that people, and the lexicon, gave that type.
    """

    name: str
    labelled: int
    recognised: int
    f1: Estimate | None
    accuracy: Estimate | None
    precision: Estimate | None
    recall: Estimate | None


@dataclass(frozen=True, slots=True)
class TypeConfusion:
    """How many questions that people labelled so were recognised as what."""

    labelled: MessageType
    recognised: MessageType
    count: int


@dataclass(frozen=True, slots=True)
class TypeTable:
    """Table III for the labelled questions of one group, and what was taken for what."""

    group: CaseGroup
    answers: int
    rows: tuple[TypeRow, ...]
    confusions: tuple[TypeConfusion, ...]


def type_table(cases: Sequence[EvaluationCase], group: CaseGroup = ALL_CASES) -> TypeTable:
    """Compare the recognised message types with those that people gave.

    ``all`` weighs each type by the number of questions labelled so, as the paper's row does (its
    recall equals its accuracy); ``all, types equal`` weighs the types alike. A type has its row where
    it was labelled or recognised at all; one that was labelled and never recognised has precision 0.
    Questions without a label are passed over.
    """
    pairs = [(case.labelled, case.recognised) for case in group.select(cases) if case.labelled is not None]
    counts = ((kinds, pairs.count(kinds)) for kinds in product(MessageType, MessageType))
    confusions = tuple(TypeConfusion(*kinds, count) for kinds, count in counts if count)
    return TypeTable(group, len(pairs), tuple(_rows(pairs)), confusions)


def _rows(pairs: Sequence[tuple[MessageType, MessageType]]) -> Iterable[TypeRow]:
    labelled, recognised = ([_CODES[pair[side]] for pair in pairs] for side in (0, 1))
    present = [code for code in _CODES.values() if code in labelled or code in recognised]
    sets = [*([code] for code in present), [_CODES[each] for each in _SCORED]]
    estimates = paired_estimates(partial(_table, sets=sets), labelled, recognised) if pairs else ()
    names = [ALL, ALL_EQUAL, *(tuple(MessageType)[code].value for code in present), _SCORED_NAME]
    members = [list(_CODES.values())] * 2 + sets
    fours = zip(*[iter(estimates)] * 4, strict=True)
    for name, codes, measures in zip(names, members, fours, strict=False):
        counts = [sum(map(side.count, codes)) for side in (labelled, recognised)]
        # A mean over types is as sure as the rarest of them.
        fewest = min(map(labelled.count, present)) if name == ALL_EQUAL else counts[0]
        shown = (Estimate(each.value) if each and fewest < MIN_RESAMPLED else each for each in measures)
        yield TypeRow(name, counts[0], counts[1], *shown)


def _table(labelled: FloatArray, recognised: FloatArray, axis: int, sets: list[list[int]]) -> FloatArray:
    """Return the measures of all rows one after the other; ``sets`` are the types, the last the pair."""
    flags = [(np.isin(labelled, codes), np.isin(recognised, codes)) for codes in sets]
    single = np.stack([_measures(*each, axis) for each in flags])
    of_types, support = single[:-1], np.stack([actual.sum(axis) for actual, _ in flags[:-1]])
    right = (labelled == recognised).mean(axis)
    weighted = (np.nan_to_num(of_types) * support[:, None]).sum(0) / labelled.shape[axis]
    # A resample may lack a type; each has at least one.
    equal = np.asarray(np.nanmean(of_types, axis=0))
    rows = np.concatenate(([_accurate(weighted, right), _accurate(equal, right)], single))
    return rows.reshape(-1, *rows.shape[2:])


def _measures(actual: Flags, found: Flags, axis: int) -> FloatArray:
    """Return F1, accuracy, precision and recall; NaN where the type does not occur on either side."""
    both, either = (actual & found).sum(axis), (actual | found).sum(axis)
    actuals, founds = actual.sum(axis), found.sum(axis)
    f1, precision, recall = (
        np.where(either > 0, both * factor / np.maximum(whole, 1), np.nan)
        for factor, whole in ((2, actuals + founds), (1, founds), (1, actuals))
    )
    return np.stack((f1, (actual == found).mean(axis), precision, recall))


def _accurate(measures: FloatArray, accuracy: FloatArray) -> FloatArray:
    return np.stack((measures[0], accuracy, measures[2], measures[3]))
