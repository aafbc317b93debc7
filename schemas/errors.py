"""What can go wrong with a value from the wire, and with the schema registry."""

from __future__ import annotations

from typing import Literal

Stage = Literal["decode", "validate"]


class DecodeError(ValueError):
    """A value that is no record of the contract, and will never become one.

    ``code`` is stable and short, such as ``truncated``; ``stage`` is ``decode`` while the bytes
    are read and ``validate`` when they can be read but break a rule of the contract. The message
    names fields, sizes and positions, never the texts in the value.
    """

    def __init__(self, code: str, detail: str, stage: Stage = "decode") -> None:
        super().__init__(f"{code}: {detail}")
        self.code = code
        self.detail = detail
        self.stage = stage

    def __reduce__(self) -> tuple[type[DecodeError], tuple[str, str, Stage]]:
        """Keep code and stage when the error crosses a process border."""
        return type(self), (self.code, self.detail, self.stage)


class EncodeError(ValueError):
    """A record that its schema cannot hold; the message names the record's type, not its texts."""


class RegistryUnreachable(Exception):
    """The schema registry gives no answer in time, or refuses to serve us; worth trying again."""
