"""What an evaluation writes for programs: the report as JSON with its schema, and answers as CSV."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from scoring.evaluation.cases import EvaluationCase
from scoring.evaluation.comparison import Comparison
from scoring.evaluation.opinion_report import JudgeRun
from scoring.evaluation.report import Report
from scoring.policy import Policy
from scoring.values.scored_answer import SCORER_VERSION
from streams.cli.command_files import atomic_write
from streams.cli.evaluate.rated_files import JudgeEvaluation, RatedFile, ScoringVariant


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluatedFile:
    """A file of rated answers: how many lines are malformed, and the numbers of those without a rating."""

    file: str
    bad_lines: int
    unrated_lines: list[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluatedOpinions:
    """A file of opinions, and how many of its lines are malformed or match no answer."""

    file: str
    bad_lines: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WhatIf(Comparison):
    """The policy of the settings, ``today``, compared with another one on the same scores."""

    today: dict[str, Any]
    other: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationReport(Report):
    """The report of `truthgate evaluate --json`.

    ``opinions``, ``judges``, ``tau`` and ``seed`` are about --opinions, ``what_if`` about another policy.
    """

    files: list[EvaluatedFile]
    opinions: list[EvaluatedOpinions]
    tau: float
    seed: int
    profiles: list[str]
    policy_version: str
    scorer_version: str
    judges: tuple[JudgeRun, ...]
    what_if: WhatIf | None


def evaluation_report(
    report: Report,
    files: Sequence[RatedFile],
    variants: Sequence[ScoringVariant],
    judges: JudgeEvaluation,
    judge_runs: tuple[JudgeRun, ...],
    policy: Policy,
    what_if: WhatIf | None,
) -> EvaluationReport:
    """Add to a report what it is about."""
    return EvaluationReport(
        **_field_values(report),
        files=[
            EvaluatedFile(file=str(each.path), bad_lines=each.errors.count, unrated_lines=each.unrated)
            for each in files
        ],
        opinions=[
            EvaluatedOpinions(file=str(each.path), bad_lines=each.errors.count) for each in judges.files
        ],
        tau=judges.tau,
        seed=judges.seed,
        profiles=list(dict.fromkeys(variant.profile for variant in variants)),
        policy_version=policy.identity,
        scorer_version=SCORER_VERSION,
        judges=judge_runs,
        what_if=what_if,
    )


def compare_policies(today: Policy, other: Policy, changed: Comparison) -> WhatIf:
    """Return what another policy would change."""
    old, new = ({"policy_version": each.identity, **asdict(each)} for each in (today, other))
    return WhatIf(**_field_values(changed), today=old, other=new)


def _field_values(instance: Any) -> dict[str, Any]:
    """Return the fields of a dataclass by name, to make one that extends it."""
    return {each.name: getattr(instance, each.name) for each in fields(instance)}


def report_schema() -> dict[str, Any]:
    """Return the JSON schema of the report."""
    schema = TypeAdapter(EvaluationReport).json_schema(mode="serialization")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


_CASE_FIELDS = ("answer_id", "language", "rating", "rating_first", "rating_second", "score", "decision")


def write_csv(path: Path, runs: Mapping[str, Sequence[EvaluationCase]]) -> None:
    """Write a line per answer and run: what people say, what was decided and why, and each feature.

    An empty cell is a value that is missing or does not apply. Raises CommandFailed.
    """
    names = dict.fromkeys(name for cases in runs.values() for case in cases for name in case.features)
    heading = ["run", *_CASE_FIELDS, "message_type", "truth", "reasons", *names]
    with atomic_write(path) as partial, partial.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(heading)
        for run, cases in runs.items():
            for case in cases:
                own = [_cell(getattr(case, each)) for each in _CASE_FIELDS]
                said = [case.recognised, case.truth or "", " ".join(case.reasons)]
                writer.writerow([run, *own, *said, *(_cell(case.features.get(name)) for name in names)])


def _cell(value: object) -> object:
    # A spreadsheet takes a text that begins like this for a formula; answer ids come from others.
    if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r")):
        return f"'{value}"
    return "" if value is None else value
