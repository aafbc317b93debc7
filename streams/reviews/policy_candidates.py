"""Candidates beside what decides: what a proposed policy would have decided since it was proposed."""

from collections.abc import Iterable
from typing import Final

from scoring.guarantees.policy_comparison import PolicyDifference, certified_decision, compare_policies
from streams.reviews.audit_sample import AuditSample
from streams.reviews.policy_state import PolicyState, PolicyStatus, PolicyVersion
from streams.reviews.rating_store import RatingStore

#: So many of the candidates that were proposed last are compared, on so many of the newest answers.
_CANDIDATES: Final = 5
_ANSWERS: Final = 20_000


def candidates(state: PolicyState) -> list[PolicyVersion]:
    """Return the last versions that were proposed and neither approved nor withdrawn."""
    proposed = [
        each
        for each in state.versions
        if each.fitted and each.fitted.certificates and state.status(each) is PolicyStatus.PROPOSED
    ]
    return proposed[-_CANDIDATES:]


def compare_candidates(
    store: RatingStore, sample: AuditSample, versions: Iterable[PolicyVersion]
) -> dict[str, tuple[PolicyDifference, ...]]:
    """Return, by version, how candidates differ from what was decided, of all answers and by group.

    The first of each difference is what was decided, whatever by, the second what the candidate's
    certificates would have decided. Answers from before its proposal do not count: it was fitted to them.
    """
    proposed = [
        (version.version, version.fitted, version.proposal.written_at)
        for version in versions
        if version.fitted and version.proposal
    ]
    newest = store.newest(sample, min(since for _, _, since in proposed), _ANSWERS) if proposed else ()
    found = {}
    for name, fitted, since in proposed:
        if answers := [each for each in newest if each.facts.scored_at >= since]:
            decide = certified_decision(fitted)
            found[name] = compare_policies(answers, lambda facts: facts.decision, decide)
    return found
