"""The tables of an evaluation on a terminal."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from rich.console import Group as Lines
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from scoring.evaluation.cases import CaseGroup
from scoring.evaluation.comparison import DecisionTable
from scoring.evaluation.correlation import (
    SCORE,
    Agreement,
    Correlation,
    Deviation,
    FeatureTable,
    Gain,
    RatingRow,
)
from scoring.evaluation.message_types import TypeTable
from scoring.evaluation.report import Report, RunReport
from scoring.evaluation.routing import CheckTable, Routing, RoutingRow, SendingTable
from scoring.evaluation.statistics import Share
from scoring.values.exchange import Decision
from scoring.values.rules import Reason
from streams.cli.command_output import plural
from streams.cli.evaluate import routed_tables, scoring_variants
from streams.cli.evaluate.cell_formatting import (
    NOTHING,
    empty_table,
    format_count,
    format_estimate,
    format_percentage,
    format_share_with_count,
    format_value,
    group_name,
)
from streams.cli.verdict_rendering import humanize_code

T = TypeVar(
    "T",
    TypeTable,
    Correlation,
    Deviation,
    DecisionTable,
    Routing,
    FeatureTable,
    Gain,
    SendingTable,
    CheckTable,
)

_DEVIATIONS: dict[str, Callable[[RatingRow], Share | None]] = {
    "within 1": lambda row: row.within_margin,
    "score = 1": lambda row: row.score_1,
    "score < 3": lambda row: row.below_3,
    "score > 3": lambda row: row.above_3,
    "score = 5": lambda row: row.score_5,
}
_DECISIONS: dict[str, Callable[[RoutingRow], Share | None]] = {
    "auto send": lambda row: row.auto_send,
    "review": lambda row: row.review,
    "blocked": lambda row: row.blocked,
}


def evaluation_tables(report: Report) -> Iterator[RenderableType]:
    """Yield everything that a terminal shows of a report, in order.

    A language's rows are left out where there is one language only: they would repeat those of all.
    """
    yield Text(
        f"{plural(report.answers, 'answer')}, {report.rated} rated, {report.labelled} with a message type"
    )
    if report.agreement:
        yield _agreement(report.agreement)
    for types in _shown(report.message_types):
        if types.answers:
            yield _types(types)
    for decisions in _shown(report.decisions):
        yield _decisions(decisions, report.runs)
    if not report.rated:
        return
    yield _correlations(report)
    yield _areas(report.runs)
    for run in report.runs:
        yield from _run(run, scoring_variants.describe_variant(run.name) if len(report.runs) > 1 else "")


def _run(run: RunReport, how: str) -> Iterator[RenderableType]:
    yield _deviation(run.deviations[0], how)
    yield _by_group(
        "Table V by group: scores of the answers rated 1 and 5",
        how,
        ("answers", "within 1", "1: = 1", "1: < 3", "5: < 3"),
        [(each.group, _deviation_cells(each)) for each in _shown(run.deviations) if each.overall.answers],
    )
    yield _routing(run.routings[0], how)
    yield _by_group(
        "Routing by group: what becomes of the answers rated 1 and 5",
        how,
        ("1: sent", "1: blocked", "5: sent", "5: blocked"),
        [(each.group, _routing_cells(each)) for each in _shown(run.routings)],
    )
    of_languages = [each for each in _shown(run.sendings) if each.group.message_type is None]
    yield routed_tables.sending_table(of_languages, how)
    yield routed_tables.misrouted_table(run.misrouted, how)
    for checks in _shown(run.checks):
        yield routed_tables.checks_table(checks, how)
    for features in _shown(run.features):
        yield _features(features, how)


def _agreement(found: Agreement) -> Text:
    text = Text(
        f"Two raters on {plural(found.answers, 'answer')}: the same rating on {format_count(found.exact)}, "
    )
    text.append(f"within 1 on {format_count(found.within_1)}; Spearman ").append(
        format_estimate(found.spearman)
    )
    return text.append(", quadratic kappa ").append(format_estimate(found.kappa))


def _types(types: TypeTable) -> Lines:
    columns = ("labelled", "found", "F1", "accuracy", "precision", "recall")
    table = empty_table("Table III: message types", columns, types.group)
    for row in types.rows:
        measures = (row.accuracy, row.precision, row.recall)
        counts = (str(row.labelled), str(row.recognised))
        table.add_row(humanize_code(row.name), *counts, format_estimate(row.f1), *map(format_value, measures))
    mistaken = sorted(
        (each for each in types.confusions if each.labelled is not each.recognised),
        key=lambda each: -each.count,
    )
    taken = (f"{each.labelled} for {each.recognised} {each.count}" for each in mistaken)
    return Lines(table, Text(f"Taken: {', '.join(taken) or 'none for another'}", "dim"))


def _decisions(found: DecisionTable, runs: Sequence[RunReport]) -> Lines:
    first, second = (scoring_variants.describe_variant(run.name) for run in runs)
    columns = map(humanize_code, (*Decision, "changed"))
    table = empty_table(f"Decisions: {first} (rows), {second} (columns)", columns, found.group)
    for row in found.rows:
        counts = (str(count) for count in (row.auto_send, row.review, row.blocked))
        table.add_row(f"{humanize_code(row.decision)} ({row.answers})", *counts, format_count(row.changed))
    if found.same is None:
        return Lines(table)
    out = f"; {found.counted_out} counted out" if found.counted_out else ""
    return Lines(table, Text(f"The same decision on {format_count(found.same)}, {_range(found.same)}{out}"))


def _correlations(report: Report) -> Lines:
    note = "* p < 0.05, ** p < 0.01; [95% interval]"
    table = empty_table("Table IV: Spearman of score and rating", note=note)
    for run in report.runs:
        table.add_column("answers", justify="right")
        table.add_column(scoring_variants.describe_variant(run.name))
    for rows in zip(*(_shown(run.correlations) for run in report.runs), strict=True):
        if any(row.answers for row in rows):
            cells = ((str(row.answers), format_estimate(row.spearman, row.p)) for row in rows)
            table.add_row(group_name(rows[0].group), *(cell for pair in cells for cell in pair))
    outs = (
        _counted_out(run.correlations[0], scoring_variants.describe_variant(run.name)) for run in report.runs
    )
    gains = (
        _gain(each, scoring_variants.describe_gain(report.runs[-1].name)) for each in _shown(report.gains)
    )
    return Lines(table, *outs, *gains)


def _counted_out(row: Correlation, how: str) -> Text:
    reasons = ", ".join(f"{each.count} {humanize_code(each.reason)}" for each in row.counted_out)
    return Text(f"Counted out ({how}): {reasons or 'none'}", "dim")


def _gain(found: Gain, how: str) -> Text:
    text = Text(f"{how} ({group_name(found.group)}), {plural(found.answers, 'answer')} scored both ways: ")
    return text.append(format_estimate(found.difference))


def _areas(runs: Sequence[RunReport]) -> Table:
    table = empty_table("AUROC of the score: answers rated 5 against those rated 1", note="[95% interval]")
    for run in runs:
        table.add_column("rated 1, 5", justify="right")
        table.add_column(scoring_variants.describe_variant(run.name))
    for features in zip(*(_shown(run.features) for run in runs), strict=True):
        scores = [next(row for row in each.rows if row.name == SCORE) for each in features]
        cells = ((f"{row.untrue}, {row.true}", format_estimate(row.auroc)) for row in scores)
        table.add_row(group_name(features[0].group), *(cell for pair in cells for cell in pair))
    return table


def _deviation(found: Deviation, how: str) -> Table:
    rows = (*found.ratings, found.overall)
    table = empty_table("Table V: scores per rating", map(_rated, rows), note="95% interval below", how=how)
    for label, share in _DEVIATIONS.items():
        table.add_row(label, *(format_percentage(share(row)) for row in rows))
    return table


def _deviation_cells(found: Deviation) -> Sequence[str]:
    worst, best = found.ratings[0], found.ratings[-1]
    shares = (found.overall.within_margin, worst.score_1, worst.below_3, best.below_3)
    return (str(found.overall.answers), *map(format_share_with_count, shares))


def _routing(found: Routing, how: str) -> Lines:
    note = "answers without a score are among them"
    table = empty_table("Routing: decisions per rating", map(_rated, found.ratings), note=note, how=how)
    for label, share in _DECISIONS.items():
        table.add_row(label, *(_count_and_share(share(row)) for row in found.ratings))
    return Lines(table, *_about_routing(found))


def _about_routing(found: Routing) -> Iterator[Text]:
    if sent := found.ratings[0].auto_send:
        yield Text(f"Sent by itself of the answers rated 1: {format_count(sent)}, {_range(sent)}")
    if found.counted_out:
        yield Text(f"Counted out: {found.counted_out} {humanize_code(Reason.TRANSLATION_UNAVAILABLE)}", "dim")


def _routing_cells(found: Routing) -> Sequence[str]:
    worst, best = found.ratings[0], found.ratings[-1]
    return tuple(map(format_share_with_count, (worst.auto_send, worst.blocked, best.auto_send, best.blocked)))


def _features(found: FeatureTable, how: str) -> Table:
    note = "AUROC: answers rated 5 against those rated 1"
    table = empty_table("Each feature alone", ("answers",), found.group, note, how)
    table.add_column("Spearman")
    table.add_column("AUROC")
    table.add_column("rated 1, 5", justify="right")
    for row in found.rows:
        measures = (format_estimate(row.spearman, row.p), format_estimate(row.auroc))
        table.add_row(humanize_code(row.name), str(row.answers), *measures, f"{row.untrue}, {row.true}")
    return table


def _by_group(
    title: str, how: str, columns: Iterable[str], rows: Iterable[tuple[CaseGroup, Sequence[str]]]
) -> Table:
    table = empty_table(title, columns, how=how)
    for group, cells in rows:
        if any(cell != NOTHING for cell in cells):
            table.add_row(group_name(group), *cells)
    return table


def _rated(row: RatingRow | RoutingRow) -> str:
    rated = "all" if row.rating is None else f"rated {row.rating}"
    return f"{rated}\n({row.answers})"


def _shown(rows: Sequence[T]) -> list[T]:
    languages = {row.group.language for row in rows} - {None}
    return [row for row in rows if len(languages) > 1 or row.group.language is None]


def _count_and_share(share: Share | None) -> str:
    return NOTHING if share is None else f"{share.count} ({share.value:.0%})"


def _range(share: Share) -> str:
    return f"{share.value:.0%} [{100 * share.low:.0f}, {100 * share.high:.0f}]"
