"""What of a verdict counts towards rates; its texts and features are not read for that."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import FiniteFloat

from schemas.catalogue import record_part
from schemas.records import Identifier, Label, Timestamp, Verdict


@dataclass(frozen=True, slots=True)
class VerdictOutcome:
    """The fields of a :class:`~schemas.records.Verdict` by the same names."""

    verdict_id: Identifier
    decision: str
    score: FiniteFloat | None
    message_type: str
    language: Label | None
    produced_at: Timestamp
    scored_at: Timestamp
    faithfulness: FiniteFloat | None = None


VERDICT_OUTCOME = record_part(Verdict, VerdictOutcome)
