"""What the demo has seen, as a live table or plain lines."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from schemas import Verdict
from streams.cli.command_output import plural, printable
from streams.cli.verdict_rendering import (
    DECISION_STYLES,
    claim_lines,
    format_score,
    highlighted_excerpt,
    humanize_code,
    marked_excerpt,
    verdict_with_claims,
)
from streams.pipeline.verdict import WRONG_STATUSES, fault_evidence, marked_claims, verdict_id
from streams.rates import Tally, add_to_tallies

# The terminal shows a few; the rest is counted.
_RECENT = 100


class DemoBoard:
    """Collects outcomes until every answer that was to be sent has one.

    Args:
        answer_ids: the answers that must get a verdict.
        dead_letters: how many dead letters are expected beside them.
    """

    def __init__(self, answer_ids: Iterable[str], dead_letters: int = 0) -> None:
        self._expected = {verdict_id(answer_id) for answer_id in answer_ids}
        self._expected_letters = dead_letters
        self._missing = set(self._expected)
        self.sent = 0
        self.letters = 0
        self.repeated = 0
        self.decisions: Counter[str] = Counter()
        self.tallies: dict[str, Tally] = {}
        self.recent: list[Verdict] = []

    def add(self, verdict: Verdict) -> bool:
        """Take a verdict in; False when it was seen before, or is not one of ours."""
        if verdict.verdict_id not in self._missing:
            self.repeated += verdict.verdict_id in self._expected
            return False
        self._missing.remove(verdict.verdict_id)
        self.decisions[verdict.decision] += 1
        self.tallies = add_to_tallies(self.tallies, verdict)
        self.recent = [*self.recent, verdict][-_RECENT:]
        return True

    def add_dead_letter(self) -> None:
        """Take a dead letter in."""
        self.letters += 1

    @property
    def total(self) -> int:
        """How many outcomes are expected in all."""
        return len(self._expected) + self._expected_letters

    @property
    def settled(self) -> int:
        """How many outcomes there are."""
        return len(self._expected) - len(self._missing) + min(self.letters, self._expected_letters)

    @property
    def complete(self) -> bool:
        """Whether everything that was sent has its verdict or its dead letter."""
        return self.settled == self.total

    def summary(self) -> str:
        """Say what came of all answers, in one line."""
        told = [
            f"{self.decisions['auto_send']} sent",
            f"{self.decisions['review']} for review",
            f"{self.decisions['blocked']} blocked",
        ]
        letters = plural(self.letters, "dead letter")
        lost = f"{self.total - self.settled} lost"
        return f"{plural(self.decisions.total(), 'answer')} judged: {', '.join(told)}; {letters}, {lost}"


_REFRESHES_A_SECOND = 8
# What is on the screen beside the rows of verdicts: headings, blank lines and the line at the end.
_OTHER_LINES = 7
_MIN_ROWS = 3
_FIXED_COLUMNS = 58
_MAX_CLAIMS = 3
_MIN_EXCERPT = 20

#: Shows the board; the verdict is the one that is new, if one is.
Show = Callable[[DemoBoard, Verdict | None], None]


@contextmanager
def open_display(console: Console, *, plain: bool) -> Iterator[Show]:
    """Give what shows the demo: tables that are drawn anew, or a line a verdict for pipes and files."""
    if plain or not console.is_terminal:
        yield partial(_line, console)
        return
    with Live(console=console, refresh_per_second=_REFRESHES_A_SECOND, vertical_overflow="crop") as display:
        yield lambda board, _: display.update(tables(board, console.width, console.height))


def _line(console: Console, _: DemoBoard, verdict: Verdict | None) -> None:
    if verdict is not None:
        console.print(verdict_with_claims(verdict), soft_wrap=True)


def tables(board: DemoBoard, width: int, height: int) -> RenderableType:
    """Lay the board out for a terminal of this size."""
    claims = _claims(board)
    rows = max(_MIN_ROWS, height - _OTHER_LINES - len(board.tallies) - len(claims))
    return Group(_verdicts(board, rows, width), *claims, Text(), rates(board), Text(), _state(board))


def _claims(board: DemoBoard) -> tuple[Text, ...]:
    """Give what the newest answer with a wrong claim says, and the documents, under a heading."""
    for verdict in reversed(board.recent):
        if any(claim.status in WRONG_STATUSES for claim in marked_claims(verdict)):
            heading = Text(f"what the documents say of {printable(verdict.answer_id)}", "bold")
            lines = (Text(), heading, *claim_lines(verdict, _MAX_CLAIMS))
            for line in lines:
                line.no_wrap, line.overflow = True, "ellipsis"
            return lines
    return ()


def rates(board: DemoBoard) -> Table:
    """Lay out how often answers are untrue, per message type, with bounds, and how faithful."""
    table = Table("message type", box=None, pad_edge=False, header_style="bold")
    faithful = any(tally.faithfulness_answers for tally in board.tallies.values())
    for heading in ("answers", "scored", "blocked", "untrue", "95% bounds", *["faithful"] * faithful):
        table.add_column(heading, justify="right")
    for name, tally in sorted(board.tallies.items(), key=lambda item: -item[1].answers):
        counts = map(str, (tally.answers, tally.scored, tally.hallucinated))
        share = "-" if tally.faithfulness is None else f"{tally.faithfulness:.0%}"
        table.add_row(humanize_code(name), *counts, *_rate(tally), *[share] * faithful)
    return table


def _rate(tally: Tally) -> tuple[str, str]:
    if tally.rate is None:
        return "-", "not scored"
    low, high = tally.bounds
    return f"{tally.rate:.0%}", f"{low:.0%} to {high:.0%}"


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
            _faults(verdict, room),
        )
    return table


def _faults(verdict: Verdict, width: int) -> Text:
    if marked_claims(verdict):
        return marked_excerpt(verdict, width, width // 3)
    spans = [(evidence.start, evidence.end) for evidence in fault_evidence(verdict)]
    return highlighted_excerpt(verdict.answer, spans, width, width // 3, "bold white on red")


def _state(board: DemoBoard) -> Text:
    text = Text(f"{board.sent} of {board.total} sent, {board.settled} settled: ", "dim")
    for decision in DECISION_STYLES:
        text.append(f"{board.decisions[decision]} {humanize_code(decision)}  ", DECISION_STYLES[decision])
    return text.append(plural(board.letters, "dead letter"), "dim")
