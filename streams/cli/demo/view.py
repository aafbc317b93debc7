"""The demo on the screen: a live table of verdicts and rates, or plain lines where there is no terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from schemas import Verdict
from streams.answers.evidence import WRONG, marked_claims, offending
from streams.cli.claims import claim_lines, marked_excerpt, verdict_with_claims
from streams.cli.demo.board import Board
from streams.cli.output import plural, printable
from streams.cli.render import STYLES, excerpt, in_words, score
from streams.rates import Tally

_REFRESHES_A_SECOND = 8
# What is on the screen beside the rows of verdicts: headings, blank lines and the line at the end.
_OTHER_LINES = 7
_ROWS_AT_LEAST = 3
_FIXED_COLUMNS = 58
_CLAIMS_AT_MOST = 3
_EXCERPT_AT_LEAST = 20

#: Shows the board; the verdict is the one that is new, if one is.
Show = Callable[[Board, Verdict | None], None]


@contextmanager
def shown(console: Console, *, plain: bool) -> Iterator[Show]:
    """Give what shows the demo: tables that are drawn anew, or a line a verdict for pipes and files."""
    if plain or not console.is_terminal:
        yield partial(_line, console)
        return
    with Live(console=console, refresh_per_second=_REFRESHES_A_SECOND, vertical_overflow="crop") as display:
        yield lambda board, _: display.update(tables(board, console.width, console.height))


def _line(console: Console, _: Board, verdict: Verdict | None) -> None:
    if verdict is not None:
        console.print(verdict_with_claims(verdict), soft_wrap=True)


def tables(board: Board, width: int, height: int) -> RenderableType:
    """Lay the board out for a terminal of this size."""
    claims = _claims(board)
    rows = max(_ROWS_AT_LEAST, height - _OTHER_LINES - len(board.tallies) - len(claims))
    return Group(_verdicts(board, rows, width), *claims, Text(), rates(board), Text(), _state(board))


def _claims(board: Board) -> tuple[Text, ...]:
    """Give what the newest answer with a wrong claim says, and the documents, under a heading."""
    for verdict in reversed(board.recent):
        if any(claim.status in WRONG for claim in marked_claims(verdict)):
            heading = Text(f"what the documents say of {printable(verdict.answer_id)}", "bold")
            lines = (Text(), heading, *claim_lines(verdict, _CLAIMS_AT_MOST))
            for line in lines:
                line.no_wrap, line.overflow = True, "ellipsis"
            return lines
    return ()


def rates(board: Board) -> Table:
    """Lay out how often answers are untrue, per message type, with bounds, and how faithful."""
    table = Table("message type", box=None, pad_edge=False, header_style="bold")
    faithful = any(tally.faithfulness_answers for tally in board.tallies.values())
    for heading in ("answers", "scored", "blocked", "untrue", "95% bounds", *["faithful"] * faithful):
        table.add_column(heading, justify="right")
    for name, tally in sorted(board.tallies.items(), key=lambda item: -item[1].answers):
        counts = map(str, (tally.answers, tally.scored, tally.hallucinated))
        share = "-" if tally.faithfulness is None else f"{tally.faithfulness:.0%}"
        table.add_row(in_words(name), *counts, *_rate(tally), *[share] * faithful)
    return table


def _rate(tally: Tally) -> tuple[str, str]:
    if tally.rate is None:
        return "-", "not scored"
    low, high = tally.bounds
    return f"{tally.rate:.0%}", f"{low:.0%} to {high:.0%}"


def _verdicts(board: Board, rows: int, width: int) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", expand=True)
    for heading, columns in (("decision", 9), ("score", 5), ("type", 11), ("reason", 24)):
        table.add_column(heading, width=columns, no_wrap=True)
    table.add_column("answer", no_wrap=True, ratio=1)
    room = max(_EXCERPT_AT_LEAST, width - _FIXED_COLUMNS)
    for verdict in board.recent[-rows:]:
        table.add_row(
            Text(in_words(verdict.decision), STYLES.get(verdict.decision, "")),
            f"{score(verdict.score):>5}",
            in_words(verdict.message_type),
            in_words(verdict.reasons[0]) if verdict.reasons else "",
            _faults(verdict, room),
        )
    return table


def _faults(verdict: Verdict, width: int) -> Text:
    if marked_claims(verdict):
        return marked_excerpt(verdict, width, width // 3)
    spans = [(evidence.start, evidence.end) for evidence in offending(verdict)]
    return excerpt(verdict.answer, spans, width, width // 3, "bold white on red")


def _state(board: Board) -> Text:
    text = Text(f"{board.sent} of {board.total} sent, {board.settled} settled: ", "dim")
    for decision in STYLES:
        text.append(f"{board.decisions[decision]} {in_words(decision)}  ", STYLES[decision])
    return text.append(plural(board.letters, "dead letter"), "dim")
