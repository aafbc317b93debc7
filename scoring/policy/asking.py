"""What asking about an answer is worth, as a worker computes it: from what is known without the opinion."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from scoring.policy.risk import RiskModel

#: The name of the model of the risk that is expected without asking.
ASKING_MODEL: Final = "asking"


@dataclass(frozen=True, slots=True)
class AskingOrder:
    """The value of asking about an answer, and the value from which on answers come first.

    Asking moves the risk of an answer from what is expected without asking (``expected``) to what it is
    afterwards. The value is the expected square of that step: by so much asking lowers the expected squared
    difference of risk and mistake (the Brier score), which is the loss of decisions averaged over all
    thresholds of the risk that a deployment might have. Whoever is always right moves a risk p to 0 or 1, so
    that the value is p (1 - p); whoever tells less, to the part ``told`` of that. So an answer
    with a risk of .5 comes first, whatever its score, and those that the checks already know of come last.

    Schervish, "A General Method for Comparing Probability Assessors" (1989), for losses and thresholds.

    >>> order = AskingOrder(RiskModel("asking", 0.0, (("score", 2.0),)), told=0.8, threshold=0.15)
    >>> order.value({}), order.comes_first({}), order.comes_first({"score": -1.0, "judge": 0.9})
    (0.2, True, False)
    """

    expected: RiskModel
    told: float = 1.0
    threshold: float = 0.0

    def value(self, inputs: Mapping[str, float]) -> float:
        """Return the value for an answer with these inputs (``risk_inputs``), in [0, 0.25]."""
        risk = self.expected.risk(inputs)
        return self.told * risk * (1 - risk)

    def comes_first(self, inputs: Mapping[str, float]) -> bool:
        """Return whether an answer with these inputs is among those that the budget is kept for."""
        return self.value(inputs) >= self.threshold
