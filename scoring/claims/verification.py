"""What a verifier says of the claims in doubt, within its time and whatever becomes of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from scoring.values.reasons import Reason
from scoring.verifier.verifying import Asked, Verifier


@dataclass(frozen=True, slots=True)
class Verification:
    """How probable it is that the documents support a claim, in [0, 1], by its place in the answer.

    ``gaps`` says why claims that were asked about are not among them.
    """

    supported: Mapping[int, float]
    gaps: tuple[Reason, ...] = ()


def verification(
    verifier: Verifier, asked: Mapping[int, Asked], language: str, seconds: float
) -> Verification:
    """Ask a verifier about claims of one answer, all at once, for so many seconds.

    What it could not say in time is left out, ``verifier_timeout``; where it fails, everything is,
    ``verifier_failed``.
    """
    if not asked:
        return Verification({})
    try:
        told = verifier.verify(tuple(asked.values()), language, seconds)
    except Exception:  # noqa: BLE001 - whatever a model fails on, the answer has been judged without it
        return Verification({}, (Reason.VERIFIER_FAILED,))
    given = zip(asked, told.opinions, strict=True)
    supported = {place: min(opinion.supported, 1.0) for place, opinion in given if opinion is not None}
    return Verification(supported, () if told.complete else (Reason.VERIFIER_TIMEOUT,))
