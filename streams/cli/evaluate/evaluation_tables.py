"""The tables of an evaluation, and of a comparison of two runs, for a terminal."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Protocol, TypeVar

from rich.console import RenderableType
from rich.text import Text

from scoring.evaluation.cases import CaseGroup
from scoring.evaluation.comparison import AnswerChange, Comparison, DecisionTable, RunResult
from scoring.evaluation.correlation import SCORE, Correlation, Deviation, FeatureRow, FeatureTable, RatingRow
from scoring.evaluation.message_types import TypeTable
from scoring.evaluation.report import Report, RunReport
from scoring.evaluation.routing import CheckTable, Misrouted, Routing, RoutingRow
from scoring.evaluation.statistics import Share
from scoring.evaluation.sweep import SweepPoint
from scoring.values.exchange import Decision
from scoring.values.rules import Reason
from streams.cli.command_output import plural, printable
from streams.cli.evaluate.evaluation_summary import summary_lines
from streams.cli.evaluate.rated_files import describe_gain, describe_variant
from streams.cli.evaluate.report_tables import (
    BOOTSTRAPPED,
    INTERVAL_BELOW,
    NOTHING,
    Cell,
    Column,
    ReportTable,
    columns,
    format_codes,
    format_count,
    format_count_with_interval,
    format_estimate,
    format_percentage,
    format_range,
    format_rating,
    format_share_with_count,
    group_name,
)
from streams.cli.verdict_rendering import humanize_code


class Grouped(Protocol):
    """What a row or a table is about."""

    @property
    def group(self) -> CaseGroup:
        """The answers."""


T = TypeVar("T", bound=Grouped)

# A terminal has room for these; --json has all.
_MAX_MISROUTED = 20
_MAX_CHANGES = 40
_MAX_SHIFTS = 10
#: The rows of Table V, and the attributes of a rating that they show.
_DEVIATIONS = {
    "within 1": "within_margin",
    "score = 1": "score_1",
    "score < 3": "below_3",
    "score > 3": "above_3",
    "score = 5": "score_5",
}


def evaluation_tables(report: Report) -> Iterator[RenderableType]:
    """Yield the tables of a report.

    Rows per language are omitted if there is one language: they would repeat the rows of all answers.
    """
    if report.rated:
        for run in report.runs:
            yield summary_lines(run, describe_variant(run.name) if len(report.runs) > 1 else "")
        yield Text()
    yield Text(
        f"{plural(report.answers, 'answer')}, {report.rated} rated, {report.labelled} with a message type"
    )
    if found := report.agreement:
        answers, exact = plural(found.answers, "answer"), format_count(found.exact)
        text = Text(f"Two reviewers on {answers}: same rating on {exact}, within 1 on ")
        text.append(f"{format_count(found.within_1)}; Spearman ").append(format_estimate(found.spearman))
        yield text.append(", quadratic kappa ").append(format_estimate(found.kappa))
    for types in _without_single_language(report.message_types):
        if types.answers:
            yield _types(types)
    for decisions in _without_single_language(report.decisions):
        same, out = decisions.same, decisions.counted_out
        line = f"Same decision on {format_range(same)}{f'; {out} excluded' if out else ''}"
        first, second = (describe_variant(run.name) for run in report.runs)
        yield _decisions(decisions, first, second, [] if same is None else [Text(line)])
    if report.rated:
        yield _correlations(report)
        yield _areas(report.runs)
        for run in report.runs:
            variant = describe_variant(run.name) if len(report.runs) > 1 else ""
            yield from (replace(table, variant=variant) for table in _run_tables(run))


def comparison_tables(
    found: Comparison, first: str, second: str, *, rescored: bool
) -> Iterator[RenderableType]:
    """Yield the tables of a comparison of two runs, whose names are ``first`` and ``second``.

    Scores and reasons are included if the answers were ``rescored``; else they follow from the decisions.
    """
    out = found.decisions.counted_out
    excluded = [Text(f"{out} excluded from these tables: not translated", "dim")] if out else []
    changed = Text(f"Changed decisions: {format_range(found.decided)}")
    yield _decisions(found.decisions, first, second, [changed, *excluded])
    if found.rated:
        runs = ((first, found.before.sending), (second, found.after.sending))
        rows: list[tuple[str, RoutingRow, Cell]] = [(f"true: {run}", each.true, "") for run, each in runs]
        for run, each in runs:
            rows.append((f"untrue: {run}", each.untrue, format_count_with_interval(each.untrue_of_sent)))
        yield _sending(rows)
    yield _changes([change for change in found.changes if change.decision_differs])
    if rescored:
        counts = f"{format_range(found.scored)}; {found.higher} higher, {found.lower} lower"
        yield Text(f"\nChanged scores: {counts}, mean change ").append(format_estimate(found.change))
        yield Text(f"Changed reasons: {format_range(found.reasoned)}")
    if rescored and found.shifts:
        yield ReportTable(
            "Changes of the first reason",
            found.shifts,
            [
                Column("", lambda row: f"{humanize_code(row.before)} → {humanize_code(row.after)}"),
                *columns(str, "answers"),
            ],
            limit=_MAX_SHIFTS,
        )


def _run_tables(run: RunReport) -> Iterator[ReportTable[Any]]:
    yield _deviation(run.deviations[0])
    yield _by_group(
        "Scores of the answers rated 1 and 5, by group (Table V)",
        [each for each in _without_single_language(run.deviations) if each.overall.answers],
        {
            "answers": lambda found: found.overall.answers,
            "within 1": lambda found: format_share_with_count(found.overall.within_margin),
            "1: = 1": lambda found: format_share_with_count(found.ratings[0].score_1),
            "1: < 3": lambda found: format_share_with_count(found.ratings[0].below_3),
            "5: < 3": lambda found: format_share_with_count(found.ratings[-1].below_3),
        },
    )
    yield _routing(run.routings[0])
    yield _by_group(
        "Decisions on the answers rated 1 and 5, by group",
        _without_single_language(run.routings),
        {
            "1: sent": lambda found: format_share_with_count(found.ratings[0].auto_send),
            "1: blocked": lambda found: format_share_with_count(found.ratings[0].blocked),
            "5: sent": lambda found: format_share_with_count(found.ratings[-1].auto_send),
            "5: blocked": lambda found: format_share_with_count(found.ratings[-1].blocked),
        },
    )
    rows: list[tuple[str, RoutingRow, Cell]] = []
    for each in _without_single_language(run.sendings):
        if each.group.message_type is None:
            name, sending = group_name(each.group), each.sending
            of_all_sent = format_count_with_interval(sending.untrue_of_sent)
            rows += [(f"{name}: true", sending.true, ""), (f"{name}: untrue", sending.untrue, of_all_sent)]
    yield _sending(rows)
    yield misrouted_table(run.misrouted)
    yield _sweep(run.sweep)
    yield from map(_checks, _without_single_language(run.checks))
    yield from map(_features, _without_single_language(run.features))


def _types(types: TypeTable) -> RenderableType:
    confusions = (each for each in types.confusions if each.labelled is not each.recognised)
    confused = [
        f"{each.labelled} as {each.recognised} {each.count}"
        for each in sorted(confusions, key=lambda each: -each.count)
    ]
    return ReportTable(
        "Message types, recognised and labelled (Table III)",
        types.rows,
        [
            Column("", lambda row: humanize_code(row.name)),
            *columns(str, "labelled", "recognised"),
            *columns(format_estimate, F1="f1"),
            *columns(lambda found: found and f"{found.value:.2f}", "accuracy", "precision", "recall"),
        ],
        types.group,
        note=BOOTSTRAPPED,
        footer=[Text(f"Confused: {', '.join(confused) or 'none'}", "dim")],
    )


def _correlations(report: Report) -> RenderableType:
    def estimate(found: Correlation) -> Text:
        return format_estimate(found.spearman, found.p)

    footer = []
    for run in report.runs:
        out = run.correlations[0].counted_out
        reasons = ", ".join(f"{each.count} {humanize_code(each.reason)}" for each in out) or "none"
        footer.append(Text(f"Excluded ({describe_variant(run.name)}): {reasons}", "dim"))
    for gain in _without_single_language(report.gains):
        compared = f"({group_name(gain.group)}), {plural(gain.answers, 'answer')} scored both ways: "
        text = Text(f"{describe_gain(report.runs[-1].name)} {compared}")
        footer.append(text.append(format_estimate(gain.difference)))
    rows = zip(*(_without_single_language(run.correlations) for run in report.runs), strict=True)
    return ReportTable(
        "Rank correlation of score and rating, Spearman (Table IV)",
        [row for row in rows if any(each.answers for each in row)],
        _per_run(report.runs, "answers", lambda found: found.answers, estimate),
        note=f"* p < 0.05, ** p < 0.01; {BOOTSTRAPPED}",
        footer=footer,
    )


def _areas(runs: Sequence[RunReport]) -> RenderableType:
    def score_row(found: FeatureTable) -> FeatureRow:
        return next(each for each in found.rows if each.name == SCORE)

    return ReportTable(
        "Answers rated 5 told from those rated 1 by the score, AUROC",
        zip(*(_without_single_language(run.features) for run in runs), strict=True),
        _per_run(
            runs,
            "rated 1, 5",
            lambda found: f"{score_row(found).untrue}, {score_row(found).true}",
            lambda found: format_estimate(score_row(found).auroc),
        ),
        note=BOOTSTRAPPED,
    )


def _per_run(
    runs: Sequence[RunReport], heading: str, count: Callable[[Any], Cell], estimate: Callable[[Any], Cell]
) -> list[Column[Any]]:
    """Return two columns per run, for rows with a value per run; the second is headed by the variant."""
    found: list[Column[Any]] = [Column("", lambda row: group_name(row[0].group))]
    for index, run in enumerate(runs):
        found += [
            Column(heading, partial(lambda index, row: count(row[index]), index)),
            Column(
                describe_variant(run.name), partial(lambda index, row: estimate(row[index]), index), left=True
            ),
        ]
    return found


def _deviation(found: Deviation) -> ReportTable[Any]:
    def cell(rating: RatingRow, row: str) -> Cell:
        return format_percentage(getattr(rating, _DEVIATIONS[row]))

    ratings = (*found.ratings, found.overall)
    return ReportTable(
        "Scores by rating (Table V)",
        _DEVIATIONS,
        [Column("", str), *(Column(_rated(each), partial(cell, each)) for each in ratings)],
        note=INTERVAL_BELOW,
    )


def _routing(found: Routing) -> ReportTable[Any]:
    def cell(rating: RoutingRow, decision: Decision) -> Cell:
        share: Share | None = getattr(rating, decision)
        return None if share is None else f"{share.count} ({share.value:.0%})"

    footer = []
    if sent := found.ratings[0].auto_send:
        footer.append(Text(f"Sent automatically of the answers rated 1: {format_range(sent)}"))
    if found.counted_out:
        reason = humanize_code(Reason.TRANSLATION_UNAVAILABLE)
        footer.append(Text(f"Excluded: {found.counted_out} {reason}", "dim"))
    return ReportTable(
        "Decisions by rating",
        Decision,
        [Column("", humanize_code), *(Column(_rated(each), partial(cell, each)) for each in found.ratings)],
        note="answers without a score are included",
        footer=footer,
    )


def _decisions(found: DecisionTable, first: str, second: str, footer: Sequence[Text]) -> RenderableType:
    """Return the table of the decisions of one run by those of another."""
    return ReportTable(
        f"Decisions: {first} (rows), {second} (columns)",
        found.rows,
        [
            Column("", lambda row: f"{humanize_code(row.decision)} ({row.answers})"),
            *columns(str, *Decision),
            *columns(format_count, "changed"),
        ],
        found.group,
        footer=footer,
    )


def _sending(rows: Iterable[tuple[str, RoutingRow, Cell]]) -> ReportTable[Any]:
    """Return the table of where true and untrue answers went; the last cell is the share of all sent."""
    return ReportTable(
        "True and untrue answers sent and blocked",
        rows,
        [
            Column("", lambda row: row[0]),
            Column("answers", lambda row: row[1].answers),
            Column("sent", lambda row: format_count_with_interval(row[1].auto_send)),
            Column("review", lambda row: format_count_with_interval(row[1].review)),
            Column("blocked", lambda row: format_count_with_interval(row[1].blocked)),
            Column("of all sent", lambda row: row[2]),
        ],
        note=f"{INTERVAL_BELOW}; true: rated 4 or 5, untrue: 1 or 2; with answers without a score",
    )


def _checks(found: CheckTable) -> ReportTable[Any]:
    def count(share: Share | None) -> str:
        return NOTHING if share is None else str(share.count)

    return ReportTable(
        "Each check alone",
        found.rows,
        [
            Column("", lambda row: humanize_code(row.reason)),
            Column("untrue : true", lambda row: f"{count(row.untrue)} : {count(row.true)}"),
            *columns(count, "others"),
            Column("of the untrue", lambda row: format_count_with_interval(row.untrue)),
            Column("of the true", lambda row: format_count_with_interval(row.true)),
        ],
        found.group,
        note=f"{INTERVAL_BELOW}; rules that send are included; others: rated 3",
    )


# A terminal has room for these; --json has all.
_SHOWN_PER_POINT = 2


def _sweep(points: Sequence[SweepPoint]) -> ReportTable[Any]:
    return ReportTable(
        "Sending from another score on",
        [each for each in points if (each.threshold * _SHOWN_PER_POINT).is_integer()],
        [
            Column("", lambda row: f"{row.threshold:g}"),
            *columns(format_percentage, **{"answers sent": "coverage", "untrue of sent": "risk"}),
            *columns(format_percentage, "true_sent"),
        ],
        note=f"{INTERVAL_BELOW}; by the score alone, whatever else a policy reviews",
    )


def misrouted_table(found: Sequence[Misrouted]) -> ReportTable[Any]:
    """Return the table of misrouted answers: untrue and sent, or true and blocked."""
    return ReportTable(
        f"Misrouted: {plural(len(found), 'answer')}",
        found,
        [
            Column("", lambda row: printable(row.answer_id)),
            Column("rated", lambda row: format_rating(row.rating)),
            *columns(humanize_code, "decision"),
            *columns(_exact_score, "score"),
            Column("reasons", lambda row: format_codes(row.reasons), left=True),
        ],
        limit=_MAX_MISROUTED,
    )


def _features(found: FeatureTable) -> ReportTable[Any]:
    return ReportTable(
        "Each feature alone",
        found.rows,
        [
            Column("", lambda row: humanize_code(row.name)),
            *columns(str, "answers"),
            Column("Spearman", lambda row: format_estimate(row.spearman, row.p), left=True),
            Column("AUROC", lambda row: format_estimate(row.auroc), left=True),
            Column("rated 1, 5", lambda row: f"{row.untrue}, {row.true}"),
        ],
        found.group,
        note=f"AUROC: answers rated 5 against those rated 1; {BOOTSTRAPPED}",
    )


def _changes(found: Sequence[AnswerChange]) -> RenderableType:
    def reasons(change: AnswerChange) -> str:
        return " → ".join(dict.fromkeys(format_codes(run.reasons) for run in (change.before, change.after)))

    def score(change: AnswerChange) -> str:
        runs: tuple[RunResult, ...] = (change.before, change.after)
        return " → ".join(_exact_score(run.score) for run in runs[: 1 + change.score_differs])

    if not found:
        return Text("\nNo decision changes.")
    return ReportTable(
        f"Changed decisions: {plural(len(found), 'answer')}",
        found,
        [
            Column("", lambda row: printable(row.answer_id)),
            Column("rated", lambda row: format_rating(row.rating)),
            Column("from", lambda row: humanize_code(row.before.decision), left=True),
            Column("to", lambda row: humanize_code(row.after.decision), left=True),
            Column("score", score),
            Column("reasons", reasons, left=True),
        ],
        limit=_MAX_CHANGES,
    )


def _by_group(title: str, found: Sequence[T], cells: Mapping[str, Callable[[T], Cell]]) -> ReportTable[Any]:
    names: Column[Any] = Column("", lambda row: group_name(row.group))
    rows = [each for each in found if any(cell(each) is not None for cell in cells.values())]
    return ReportTable(title, rows, [names, *(Column(*each) for each in cells.items())])


def _rated(row: RatingRow | RoutingRow) -> str:
    rated = "all" if row.rating is None else f"rated {row.rating}"
    return f"{rated}\n({row.answers})"


def _exact_score(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.2f}"


def _without_single_language(rows: Sequence[T]) -> list[T]:
    languages = {row.group.language for row in rows} - {None}
    return [row for row in rows if len(languages) > 1 or row.group.language is None]
