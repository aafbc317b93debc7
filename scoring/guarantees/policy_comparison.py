"""What policies decide about the same answers, from joined ratings; a desk looks at it without SciPy."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from scoring.guarantees.estimates import WeightedShare, share_with_interval
from scoring.guarantees.joined_ratings import JoinedRating, Truth, VerdictFacts
from scoring.policy.certificates import FittedThresholds
from scoring.values.exchange import Decision

#: Returns what is decided about an answer.
Decider = Callable[[VerdictFacts], Decision]


@dataclass(frozen=True, slots=True)
class DecidedShares:
    """Of ``answers`` so many are sent and blocked; the shares of the true and untrue are estimates.

    What is sent of the true and of the untrue answers, and how much of what is sent is a mistake (untrue or
    doubtful), from the rated ones that were drawn, weighted; None where there are none.
    """

    name: str
    answers: int
    sent: int
    blocked: int
    true_sent: WeightedShare | None
    untrue_sent: WeightedShare | None
    true_blocked: WeightedShare | None
    untrue_blocked: WeightedShare | None
    mistakes: WeightedShare | None


def recorded_decision(facts: VerdictFacts) -> Decision:
    """Return what was decided when the verdict was made, whatever by."""
    return facts.decision


def certified_decision(thresholds: FittedThresholds) -> Decider:
    """Return what the certificates decide; what none covers is for a person.

    What known answers, rules and checks decide before them stays as it was.
    """

    def decide(facts: VerdictFacts) -> Decision:
        if facts.decided_before:
            return facts.decision
        found = thresholds.decide(
            facts.inputs, facts.group, tuple(facts.versions), may_be_sent=facts.may_be_sent
        )
        return found[0] if found else Decision.REVIEW

    return decide


def decided_shares(name: str, ratings: Iterable[JoinedRating], decide: Decider) -> DecidedShares:
    """Return what would be sent and blocked of these answers."""
    decided = [(each, decide(each.facts)) for each in ratings]
    rated = [(each, decision) for each, decision in decided if each.draw.drawn and each.truth]

    def share(decision: Decision, truth: Truth) -> WeightedShare | None:
        some = [(each, made is decision) for each, made in rated if each.truth is truth]
        return share_with_interval([made for _, made in some], [each.draw.probability for each, _ in some])

    return DecidedShares(
        name,
        len(decided),
        sum(made is Decision.AUTO_SEND for _, made in decided),
        sum(made is Decision.BLOCKED for _, made in decided),
        share(Decision.AUTO_SEND, Truth.TRUE),
        share(Decision.AUTO_SEND, Truth.UNTRUE),
        share(Decision.BLOCKED, Truth.TRUE),
        share(Decision.BLOCKED, Truth.UNTRUE),
        _mistakes(each for each, made in rated if made is Decision.AUTO_SEND),
    )


def grouped_shares(ratings: Sequence[JoinedRating], decide: Decider) -> tuple[DecidedShares, ...]:
    """Return the same of all answers, and of each group."""
    groups = sorted({each.facts.group for each in ratings})
    members = {group: [each for each in ratings if each.facts.group == group] for group in groups}
    return (
        decided_shares("all", ratings, decide),
        *(decided_shares(group, members[group], decide) for group in groups),
    )


@dataclass(frozen=True, slots=True)
class PolicyDifference:
    """What two policies decide about the answers of a group: both as shares, and where they differ.

    ``only_first`` and ``only_second`` are sent by one alone; the shares are of mistakes among these.
    """

    first: DecidedShares
    second: DecidedShares
    only_first: int
    only_second: int
    only_first_mistakes: WeightedShare | None
    only_second_mistakes: WeightedShare | None


def compare_policies(
    ratings: Sequence[JoinedRating], first: Decider, second: Decider
) -> tuple[PolicyDifference, ...]:
    """Return how two policies differ, of all answers and by group."""
    first, second = _decided_once(first), _decided_once(second)
    found = []
    for one, other in zip(grouped_shares(ratings, first), grouped_shares(ratings, second), strict=True):
        members = [each for each in ratings if one.name in ("all", each.facts.group)]
        alone, alone_too = _sent_alone(members, first, second), _sent_alone(members, second, first)
        found.append(
            PolicyDifference(one, other, len(alone), len(alone_too), _mistakes(alone), _mistakes(alone_too))
        )
    return tuple(found)


def _decided_once(decide: Decider) -> Decider:
    """Return a decider that remembers: each answer is looked at in its group and among all, several times."""
    made: dict[str, Decision] = {}

    def remembered(facts: VerdictFacts) -> Decision:
        if facts.verdict_id not in made:
            made[facts.verdict_id] = decide(facts)
        return made[facts.verdict_id]

    return remembered


def _sent_alone(ratings: Iterable[JoinedRating], one: Decider, other: Decider) -> list[JoinedRating]:
    sent = [each for each in ratings if one(each.facts) is Decision.AUTO_SEND]
    return [each for each in sent if other(each.facts) is not Decision.AUTO_SEND]


def _mistakes(ratings: Iterable[JoinedRating]) -> WeightedShare | None:
    rated = [each for each in ratings if each.draw.drawn and each.truth]
    return share_with_interval(
        [each.truth is not Truth.TRUE for each in rated], [each.draw.probability for each in rated]
    )
