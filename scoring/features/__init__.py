"""The heuristics of the paper, each measured by a feature of its own."""

from typing import Protocol

from scoring.text.prepared_text import PreparedExchange
from scoring.values.exchange import FeatureValue
from scoring.values.rules import EvidenceRules


class Feature(Protocol):
    """One heuristic of the paper's section V-B, for any language."""

    @property
    def name(self) -> str:
        """The stable name in verdicts."""

    @property
    def uses_translation(self) -> bool:
        """Whether it measures the English translation where there is one."""
        return False

    @property
    def evidence_rules(self) -> EvidenceRules:
        """Its kinds of evidence, the surest first, each with the rule that follows from it."""
        return ()

    def measure(self, exchange: PreparedExchange) -> FeatureValue:
        """Return a value in [0, 1], or None where the feature is not applicable, with its evidence.

        A pure function, defined on empty texts, in time linear in the length of the texts.
        """
