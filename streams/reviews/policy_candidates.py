"""Beside what decides: what proposed policies would have decided since, and what shadows decided."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from scoring.guarantees.joined_ratings import JoinedRating
from scoring.guarantees.policy_comparison import (
    PolicyDifference,
    certified_decision,
    compare_policies,
    recorded_decision,
)
from scoring.values.exchange import Decision
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


def candidate_differences(
    ratings: Sequence[JoinedRating], versions: Iterable[PolicyVersion]
) -> dict[str, tuple[PolicyDifference, ...]]:
    """Return, by version, how candidates differ from what was decided, of all answers and by group.

    The first of each difference is what was decided, whatever by, the second what the candidate's
    certificates would have decided. Answers from before its proposal do not count: it was fitted to them.
    """
    found = {}
    for each in versions:
        if each.fitted and (proposal := each.proposal):
            later = [rating for rating in ratings if rating.facts.scored_at >= proposal.written_at]
            if later:
                decide = certified_decision(each.fitted)
                found[each.version] = compare_policies(later, recorded_decision, decide)
    return found


def shadow_differences(
    ratings: Sequence[JoinedRating], decisions: Mapping[str, Decision]
) -> tuple[PolicyDifference, ...]:
    """Return how decisions by verdict id differ from what was decided of the same answers, () if of none."""
    both = [each for each in ratings if each.facts.verdict_id in decisions]
    if not both:
        return ()
    return compare_policies(both, recorded_decision, lambda facts: decisions[facts.verdict_id])


def compare_candidates(
    store: RatingStore, sample: AuditSample, versions: Sequence[PolicyVersion]
) -> dict[str, tuple[PolicyDifference, ...]]:
    """Return the differences of candidates on the newest answers since the first of them was proposed."""
    proposed = [each.proposal.written_at for each in versions if each.proposal]
    newest = store.newest(sample, min(proposed), _ANSWERS) if proposed else ()
    return candidate_differences(newest, versions)


def compare_shadows(
    store: RatingStore, sample: AuditSample, since: int
) -> dict[str, tuple[PolicyDifference, ...]]:
    """Return, by name, how shadows differ from what was decided of the newest answers that both have judged.

    Only of shadows that judged an answer from ``since`` on, in ms since 1970.
    """
    names = store.shadow_names(since)
    newest = store.newest(sample, 0, _ANSWERS) if names else ()
    ids = [each.facts.verdict_id for each in newest]
    compared = {name: shadow_differences(newest, store.shadow_decisions(name, ids)) for name in names}
    return {name: differences for name, differences in compared.items() if differences}
