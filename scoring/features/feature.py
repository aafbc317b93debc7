"""The protocol of a feature: something measured on the texts of one exchange, with its evidence."""

from typing import Protocol

from scoring.text.prepared_text import PreparedExchange
from scoring.values.exchange import FeatureValue
from scoring.values.rules import EvidenceRules


class Feature(Protocol):
    """One heuristic of the paper's section V-B.

    ``measure`` is a pure function of the material, defined on empty texts, in time linear in
    their length, with a value in [0, 1] or None where the feature does not apply.
    ``on_translation`` tells whether it measures the English translation where there is one. No feature is
    bound to one language.
    """

    @property
    def name(self) -> str:
        """The stable name that a verdict carries."""

    @property
    def uses_translation(self) -> bool:
        """Whether the feature reads the translated texts."""

    @property
    def evidence_rules(self) -> EvidenceRules:
        """The kinds of evidence that it gives, the surest first, each with the rule that follows from it."""

    def measure(self, exchange: PreparedExchange) -> FeatureValue:
        """Measure the answer against question and context."""
