"""The ten lines that an evaluation begins with: how good, how many sent and blocked, what to do next."""

from collections.abc import Sequence

from rich.console import Group as Lines
from rich.text import Text

from scoring.evaluation.report import RunReport
from scoring.evaluation.statistics import MIN_RESAMPLED
from streams.cli.command_output import plural
from streams.cli.evaluate.report_tables import format_estimate, format_range

_WIDTH = 17


def summary_lines(run: RunReport, variant: str) -> Lines:
    """Return the summary of a run; ``variant`` is appended to the heading, if there are several."""
    found, sending = run.summary, run.summary.sending
    true, untrue = sending.true, sending.untrue
    ranking = format_estimate(found.spearman).append(", AUROC ").append_text(format_estimate(found.auroc))
    rows: Sequence[tuple[str, str | Text]] = (
        ("rated", f"{found.rated}: {true.answers} true, {untrue.answers} untrue, {found.neither} neither"),
        ("ranked, Spearman", ranking),
        ("sent", format_range(found.decisions.auto_send)),
        ("to review", format_range(found.decisions.review)),
        ("blocked", format_range(found.decisions.blocked)),
        ("untrue of sent", format_range(sending.untrue_of_sent)),
        ("true sent", format_range(true.auto_send)),
        ("true blocked", format_range(true.blocked)),
        ("next", next_step(run)),
    )
    heading = Text(", ".join(filter(None, ("Summary", variant))), "bold")
    return Lines(heading, *(Text(f"{name:{_WIDTH}} ").append(value) for name, value in rows))


def next_step(run: RunReport) -> str:
    """Return what to do next, by what is worst."""
    sending = run.summary.sending
    true, untrue = sending.true, sending.untrue
    if min(true.answers, untrue.answers) < MIN_RESAMPLED:
        return f"rate more answers, so that at least {MIN_RESAMPLED} are true and as many untrue"
    if untrue.auto_send and untrue.auto_send.count:
        return f"see why {plural(untrue.auto_send.count, 'untrue answer')} would be sent (Misrouted, below)"
    if true.blocked and true.blocked.count:
        return f"see why {plural(true.blocked.count, 'true answer')} would be blocked (Misrouted, below)"
    safe = [each for each in run.sweep if each.coverage.count and each.risk and not each.risk.count]
    sent = run.summary.decisions.auto_send
    if safe and sent and safe[0].coverage.count > sent.count:
        more = f"--auto-send-at {safe[0].threshold:g}"
        return f"try {more}: {format_range(safe[0].coverage)} of the answers score so, and none is untrue"
    return "nothing is misrouted: try the policy on answers that it was not made on"
