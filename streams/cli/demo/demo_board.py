"""The results of the demo, as a live table or as plain lines."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from schemas import Verdict
from streams.cli.command_output import plural, printable
from streams.cli.verdict_rendering import (
    DECISION_STYLES,
    STATUS_STYLES,
    claim_lines,
    format_score,
    humanize_code,
    marked_excerpt,
    verdict_with_claims,
)
from streams.pipeline.verdict import WRONG_STATUSES, fault_evidence, marked_claims, verdict_id
from streams.rates import Tally, add_to_tallies

# A terminal displays a few of them.
_RECENT_VERDICTS = 100

_REFRESHES_PER_SECOND = 8
# Lines of the screen besides the rows of verdicts: headings, blank lines and the status line.
_OTHER_LINES = 7
_MIN_ROWS = 3
_FIXED_COLUMNS = 58
_MAX_CLAIMS = 3
_MIN_EXCERPT = 20


class DemoBoard:
    """Collects outcomes until every answer has its verdict, and all expected dead letters are there."""

    def __init__(self, answer_ids: Iterable[str], dead_letters: int = 0) -> None:
        self._missing = {verdict_id(answer_id) for answer_id in answer_ids}
        self._expected = len(self._missing)
        self._expected_letters = dead_letters
        self.sent = self.letters = 0
        self.decisions: Counter[str] = Counter()
        self.tallies: dict[str, Tally] = {}
        self.recent: list[Verdict] = []

    def add(self, verdict: Verdict) -> bool:
        """Add a verdict; return False if it was added before, or is not of this demo."""
        if verdict.verdict_id not in self._missing:
            return False
        self._missing.remove(verdict.verdict_id)
        self.decisions[verdict.decision] += 1
        self.tallies = add_to_tallies(self.tallies, verdict)
        self.recent = [*self.recent, verdict][-_RECENT_VERDICTS:]
        return True

    @property
    def total(self) -> int:
        """The number of expected outcomes."""
        return self._expected + self._expected_letters

    @property
    def settled(self) -> int:
        """The number of outcomes so far."""
        return self._expected - len(self._missing) + min(self.letters, self._expected_letters)

    @property
    def complete(self) -> bool:
        """Whether every answer has its verdict or its dead letter."""
        return self.settled == self.total

    def summary(self) -> str:
        """Return the number of outcomes of each kind in one line."""
        sent, review, blocked = (self.decisions[each] for each in ("auto_send", "review", "blocked"))
        letters, lost = plural(self.letters, "dead letter"), self.total - self.settled
        return (
            f"{plural(self.decisions.total(), 'answer')} scored: {sent} sent, {review} to review, "
            f"{blocked} blocked; {letters}, {lost} lost"
        )


#: Displays the board, with the new verdict if there is one.
Show = Callable[[DemoBoard, Verdict | None], None]


@contextmanager
def open_display(console: Console, *, plain: bool) -> Iterator[Show]:
    """Open the display: live tables on a terminal, or a line per verdict in pipes and files."""

    def print_line(_: DemoBoard, verdict: Verdict | None) -> None:
        if verdict is not None:
            console.print(verdict_with_claims(verdict), soft_wrap=True)

    if plain or not console.is_terminal:
        yield print_line
        return
    with Live(console=console, refresh_per_second=_REFRESHES_PER_SECOND, vertical_overflow="crop") as display:
        yield lambda board, _: display.update(tables(board, console.width, console.height))


def tables(board: DemoBoard, width: int, height: int) -> RenderableType:
    """Render the board for a terminal of this size."""
    claims = _claims(board)
    rows = max(_MIN_ROWS, height - _OTHER_LINES - len(board.tallies) - len(claims))
    text = Text(f"{board.sent} of {board.total} sent, {board.settled} settled: ", "dim")
    for decision, style in DECISION_STYLES.items():
        text.append(f"{board.decisions[decision]} {humanize_code(decision)}  ", style)
    text.append(plural(board.letters, "dead letter"), "dim")
    return Group(_verdicts(board, rows, width), *claims, Text(), rates(board), Text(), text)


def _claims(board: DemoBoard) -> tuple[Text, ...]:
    """Render the claims of the newest answer with a wrong one, under a heading."""
    for verdict in reversed(board.recent):
        if any(claim.status in WRONG_STATUSES for claim in marked_claims(verdict)):
            heading = Text(f"claims of {printable(verdict.answer_id)}", "bold")
            lines = (Text(), heading, *claim_lines(verdict, _MAX_CLAIMS))
            for line in lines:
                line.no_wrap, line.overflow = True, "ellipsis"
            return lines
    return ()


def rates(board: DemoBoard) -> Table:
    """Render the rate of untrue answers per message type, with its bounds, and the faithfulness."""
    table = Table("message type", box=None, pad_edge=False, header_style="bold")
    faithful = any(tally.faithfulness_answers for tally in board.tallies.values())
    for heading in ("answers", "scored", "blocked", "untrue", "95% bounds", *["faithful"] * faithful):
        table.add_column(heading, justify="right")
    for name, tally in sorted(board.tallies.items(), key=lambda item: -item[1].answers):
        counts = map(str, (tally.answers, tally.scored, tally.hallucinated))
        share = "-" if tally.faithfulness is None else f"{tally.faithfulness:.0%}"
        rate, bounds = "-", "not scored"
        if tally.rate is not None:
            rate, bounds = f"{tally.rate:.0%}", " to ".join(f"{each:.0%}" for each in tally.bounds)
        table.add_row(humanize_code(name), *counts, rate, bounds, *[share] * faithful)
    return table


def _verdicts(board: DemoBoard, rows: int, width: int) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", expand=True)
    for heading, columns in (("decision", 9), ("score", 5), ("type", 11), ("reason", 24)):
        table.add_column(heading, width=columns, no_wrap=True)
    table.add_column("answer", no_wrap=True, ratio=1)
    room = max(_MIN_EXCERPT, width - _FIXED_COLUMNS)
    for verdict in board.recent[-rows:]:
        table.add_row(
            Text(humanize_code(verdict.decision), DECISION_STYLES.get(verdict.decision, "")),
            f"{format_score(verdict.score):>5}",
            humanize_code(verdict.message_type),
            humanize_code(verdict.reasons[0]) if verdict.reasons else "",
            answer_excerpt(verdict, room),
        )
    return table


def answer_excerpt(verdict: Verdict, width: int) -> Text:
    """Return about ``width`` characters of the answer with its claims, or else the text at fault, marked."""
    marks = [(claim.start, claim.end, *STATUS_STYLES[claim.status]) for claim in marked_claims(verdict)]
    faults = [(fault.start, fault.end, "", "bold white on red") for fault in fault_evidence(verdict)]
    return marked_excerpt(verdict.answer, marks or faults, width, width // 3)
