"""Whether sending is held, as the page tells it: by the settings of this worker and by operators."""

from __future__ import annotations

from schemas import Hold
from scoring.policy import Policy
from streams.holds.board import HoldBoard
from streams.pages.views import HoldTold, Sending
from streams.rates.outcome import milliseconds


def told(policy: Policy, board: HoldBoard) -> Sending:
    """Give what is held now, that of the settings first."""
    own = (HoldTold(each.message_type, each.language) for each in sorted(policy.held, key=str))
    operators = (_told(entry.hold) for entry in board.held if entry.hold)
    return Sending(board.known, (*own, *operators))


def _told(hold: Hold) -> HoldTold:
    return HoldTold(hold.message_type, hold.language, milliseconds(hold.at), hold.by, hold.reason)
