"""Whether sending is held, as the page tells it: by the settings of this worker and by operators."""

from __future__ import annotations

from scoring.policy import Policy
from streams.holds.board import HoldBoard
from streams.pages.views import HoldTold, Sending, view
from streams.rates.outcome import milliseconds


def told(policy: Policy, board: HoldBoard) -> Sending:
    """Give what is held now, that of the settings first."""
    own = (HoldTold(each.message_type, each.language) for each in sorted(policy.held, key=str))
    holds = (entry.hold for entry in board.held if entry.hold)
    operators = (view(HoldTold, hold, since=milliseconds(hold.at)) for hold in holds)
    return Sending(board.known, (*own, *operators))
