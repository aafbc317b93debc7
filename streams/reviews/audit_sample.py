"""The audit sample: verdicts that were sent or blocked without a person, drawn to be rated."""

import hmac
from typing import Final

from scoring.guarantees.joined_ratings import NEVER, AuditDraw, VerdictFacts
from scoring.values.exchange import Decision

#: So many of the drawn are rated by two people, for their agreement.
_DOUBLE_SHARE: Final = 0.1
_HASH_BITS: Final = 64


class AuditSample:
    """Draws verdicts by a keyed hash of their ids.

    The same key draws the same verdicts, in every order and after every restart; without the key nobody can
    tell which ones.

    Args:
        key: secret; who knows it can foresee the sample.
        share: the probability that a verdict is drawn, in [0, 1].
    """

    def __init__(self, key: bytes, share: float) -> None:
        self._key = key
        self.share = share

    @property
    def id(self) -> str:
        """Names the key and the share, without revealing the key: two samples with one id are the same."""
        return f"{self.share} {hmac.digest(self._key, b'id', 'sha256').hex()[:16]}"

    @property
    def weight(self) -> float:
        """The sampling weight of a drawn verdict: 1 divided by the probability to be drawn."""
        return 1 / self.share

    def raters(self, verdict_id: str) -> int:
        """Return how many people shall rate a verdict: 0 if it is not drawn."""
        digest = hmac.digest(self._key, f"verdict:{verdict_id}".encode("utf-8", "surrogatepass"), "sha256")
        place = int.from_bytes(digest[: _HASH_BITS // 8]) / 2**_HASH_BITS
        if place >= self.share:
            return 0
        return 2 if place < self.share * _DOUBLE_SHARE else 1

    def draw(self, facts: VerdictFacts) -> AuditDraw:
        """Return with which probability a verdict is drawn, and whether it was; of held ones none is."""
        if facts.decision is Decision.REVIEW or not self.share:
            return NEVER
        return AuditDraw(self.share, drawn=self.raters(facts.verdict_id) > 0)
