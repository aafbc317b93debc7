"""What the worker shows of the holds on sending."""

from __future__ import annotations

from scoring.policy import Policy
from streams.holds.board import HoldBoard
from streams.holds.told import parts_of
from streams.telemetry.instruments import Instruments, Label, LabelValues


class HoldTelemetry:
    """The instruments of the holds."""

    def __init__(self, instruments: Instruments) -> None:
        self._holds = instruments.gauge(
            "truthgate.holds",
            "Holds on sending that are in force, of operators and of the settings: always 1; `all` is any "
            "message type or language.",
            "`truthgate holds` says who and why; `policy.hold`.",
            Label("message_type"),
            Label("language"),
            unit="{hold}",
        )
        self._known = instruments.gauge(
            "truthgate.holds_known",
            "Whether it is known what is held (1); where it is not (0), nothing is sent by itself.",
            "The log lines `holds_unknown` and `hold_unreadable`; the brokers.",
        )

    def watch(self, policy: Policy, board: HoldBoard) -> None:
        """Show what is held by the policy itself and by what is on the board."""

        def held() -> dict[LabelValues, float]:
            return {parts_of(scope): 1 for scope in policy.held | board.holds.scopes}

        self._holds.show_all(held)
        self._known.show(lambda: board.known)
