"""What a fitted threshold promises, by what it was shown, and what ends the promise."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

from scoring.policy.asking import AskingOrder
from scoring.policy.risk import NO_JUDGE, RiskModel, is_of_judge
from scoring.values.exchange import Decision
from scoring.values.rules import Reason


@dataclass(frozen=True, slots=True)
class Promise:
    """With probability 1 - ``delta`` at most the share ``alpha`` of a set are mistakes.

    ``missed`` is the largest share of mistakes that reviewers are thought to pass as none: what they find is
    then held to ``alpha`` * (1 - ``missed``). Reviewers who see mistakes where none are only lower what is
    sent, as long as less than half of what is sent is wrong.
    """

    alpha: float = 0.05
    delta: float = 0.05
    missed: float = 0.0

    def __post_init__(self) -> None:
        """Refuse what promises nothing, or cannot be kept."""
        if not (0 < self.alpha < 1 and 0 < self.delta < 1 and 0 <= self.missed < 1):
            raise ValueError("alpha and delta must be between 0 and 1, missed at least 0 and below 1")

    @property
    def level(self) -> float:
        """The share of mistakes that reviewers may find."""
        return self.alpha * (1 - self.missed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    """A promise about one decision: by which answers and ratings it was shown, and for what it holds.

    ``decision`` is ``auto_send`` (for a risk of at most ``threshold``) or ``blocked`` (of at least that).
    Several ``groups`` were pooled: the promise is about all of them together, in the proportions of the
    period; one of them alone may have more mistakes. ``delta`` is the part of the promise's that this
    certificate spends: all that one fit gives for a decision hold together with 1 - ``promise.delta``.

    ``answers`` were in the period from ``first`` to ``last`` (ms since 1970), the share ``coverage`` of them
    in the set; of these ``ratings`` were drawn, with so many ``mistakes``. ``estimate`` is the weighted share
    of mistakes, ``bound`` its upper bound. ``data`` is a hash of the ratings, ``model`` the identity of the
    risk model. It holds for answers with no other than these ``versions``, and until more than
    ``max_documents_changed`` of the documents have changed.
    """

    decision: Decision
    groups: tuple[str, ...]
    threshold: float
    promise: Promise
    delta: float
    answers: int
    coverage: float
    ratings: int
    mistakes: int
    estimate: float
    bound: float
    first: int
    last: int
    data: str
    model: str
    versions: tuple[str, ...]
    max_documents_changed: float = 0.1

    @property
    def needs_judges(self) -> bool:
        """Whether judges were asked in the period: without them, answers that they would decide look sure."""
        return any(is_of_judge(each) and each != NO_JUDGE for each in self.versions)

    def covers(self, group: str, risk: float, versions: Collection[str]) -> bool:
        """Return whether the promise is about such an answer, so that it may be decided by it."""
        is_in_set = risk <= self.threshold if self.decision is Decision.AUTO_SEND else risk >= self.threshold
        return is_in_set and group in self.groups and all(each in self.versions for each in versions)


@dataclass(frozen=True, slots=True)
class FittedThresholds:
    """A risk model with the certificates that its thresholds have: what a worker decides by.

    ``asking`` says which answers judges are asked about first; without it all in doubt are equal.
    """

    model: RiskModel
    certificates: tuple[Certificate, ...]
    asking: AskingOrder | None = None

    def decide(
        self, inputs: Mapping[str, float], group: str, versions: Collection[str], *, may_be_sent: bool
    ) -> tuple[Decision, Certificate] | None:
        """Return what a certificate decides about an answer, and which one; None leaves it to a person.

        What one certificate would send and another block is left to a person too.
        """
        risk = self.model.risk(inputs)
        found = [
            each
            for each in self.certificates
            if each.covers(group, risk, versions) and (may_be_sent or each.decision is Decision.BLOCKED)
        ]
        if len({each.decision for each in found}) != 1:
            return None
        return found[0].decision, found[0]


@dataclass(frozen=True, slots=True)
class ActivePolicy:
    """The version of the policy that decides: what it is fitted to, and what keeps it from sending.

    ``version`` is None for the policy of the settings. ``fitted`` has the certificates that are valid now; it
    is None for the settings, and where its content cannot be read. With an ``objection`` nothing is sent by
    score, opinion or risk: ``policy_withdrawn`` or ``policy_unknown``. ``withdrawn_groups``
    have the former.
    """

    version: str | None = None
    fitted: FittedThresholds | None = None
    objection: Reason | None = None
    withdrawn_groups: frozenset[str] = frozenset()

    @property
    def is_of_settings(self) -> bool:
        """Whether the policy of the settings decides alone."""
        return self == SETTINGS_POLICY

    def objection_to(self, group: str) -> Reason | None:
        """Return why no answer of a group is sent by score, opinion or risk, or None."""
        return self.objection or (Reason.POLICY_WITHDRAWN if group in self.withdrawn_groups else None)


#: The policy of the settings, known and not withdrawn.
SETTINGS_POLICY: Final = ActivePolicy()
