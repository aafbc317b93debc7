"""Whether promises hold: on streams of known truth, on recorded answers, and while mistakes are watched.

Run as ``python -m tests.benchmarks.promise worlds``, or with another part: ``weekly``, ``recorded``,
``calibration``, ``watch``, ``cost``. See the README.
"""

import argparse
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from time import perf_counter, process_time

# Matrices are small: threads of BLAS only wait for one another.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from scoring.guarantees.certification import propose
from scoring.guarantees.error_watch import ErrorWatch, step
from scoring.guarantees.joined_ratings import JoinedRating, Truth
from scoring.guarantees.risk_fitting import FittedRisk, fit_risk, risk_examples
from scoring.guarantees.threshold_tests import binomial_p
from scoring.policy import ActivePolicy, Policy
from scoring.policy.certificates import FittedThresholds, Promise
from scoring.policy.risk import INPUTS, SHIPPED_RISK, RiskModel, rating_versions, risk_inputs
from scoring.scorer.profile import RULES_BY_KIND
from scoring.values.exchange import Evidence, FeatureValue, MessageType
from scoring.values.opinion import Label, Opinion
from scoring.values.rules import RuleEffect
from scoring.values.scored_answer import ScoredAnswer
from tests.benchmarks.promise_recorded import recorded, resampled
from tests.benchmarks.promise_worlds import WORLDS, Answers, Flags, Floats

DELTA = 0.05
_DECISIONS = 20_000
#: From ratings and the promised share to which answers are sent.
Method = Callable[[Sequence[JoinedRating], float], Callable[[Answers], Flags]]


def promised(ratings: Sequence[JoinedRating], alpha: float) -> Callable[[Answers], Flags]:
    """Send what a certificate promises."""
    thresholds = propose(ratings, Promise(alpha, DELTA)).thresholds

    def sent(answers: Answers) -> Flags:
        risks = answers.risk(thresholds)
        found = np.zeros(len(risks), bool)
        for each in thresholds.certificates:
            groups = [int(group.removeprefix("group ")) for group in each.groups]
            found |= (risks <= each.threshold) & np.isin(answers.group, groups)
        return found

    return sent


def fixed(_ratings: Sequence[JoinedRating], _alpha: float) -> Callable[[Answers], Flags]:
    """Send what the shipped policy sends: whatever a judge finds true with a confidence of .9."""
    return lambda answers: answers.judge <= -0.9


def plain(ratings: Sequence[JoinedRating], alpha: float) -> Callable[[Answers], Flags]:
    """Fit to all ratings, and take the largest set whose share of mistakes among the same is small enough."""
    model = _model(ratings)
    risks, mistakes = _rated(ratings, model)
    return _below(model, _largest(risks, mistakes, lambda wrong, number: wrong <= alpha * number))


def split(ratings: Sequence[JoinedRating], alpha: float) -> Callable[[Answers], Flags]:
    """Fit to the older half, and take the largest set whose share in the newer half is small enough."""
    half = len(ratings) // 2
    model = _model(ratings[:half])
    risks, mistakes = _rated(ratings[half:], model)
    return _below(model, _largest(risks, mistakes, lambda wrong, number: wrong <= alpha * number))


def pointwise(ratings: Sequence[JoinedRating], alpha: float) -> Callable[[Answers], Flags]:
    """Do the same with a test of each set, and take the largest that passes, whatever failed before."""
    half = len(ratings) // 2
    model = _model(ratings[:half])
    risks, mistakes = _rated(ratings[half:], model)
    return _below(
        model, _largest(risks, mistakes, lambda wrong, number: binomial_p(wrong, number, alpha) <= DELTA)
    )


_PROMISE = "promise"
#: The other methods get one resample in so many: how often they fail shows sooner.
_OTHERS_SHARE = 10
METHODS: Mapping[str, Method] = {
    _PROMISE: promised,
    "fixed .9": fixed,
    "plain fit": plain,
    "split": split,
    "each tested": pointwise,
}


def _model(ratings: Sequence[JoinedRating]) -> RiskModel:
    found = fit_risk(risk_examples(ratings))
    return found.model if isinstance(found, FittedRisk) else SHIPPED_RISK


def _rated(ratings: Sequence[JoinedRating], model: RiskModel) -> tuple[list[float], list[bool]]:
    pairs = [(model.risk(each.facts.inputs), each.truth is not Truth.TRUE) for each in ratings if each.truth]
    pairs.sort()
    return [risk for risk, _ in pairs], [mistake for _, mistake in pairs]


def _largest(risks: list[float], mistakes: list[bool], passes: Callable[[int, int], bool]) -> float:
    wrong, best = 0, -1.0
    for number, (risk, mistake) in enumerate(zip(risks, mistakes, strict=True), start=1):
        wrong += mistake
        if passes(wrong, number):
            best = risk
    return best


def _below(model: RiskModel, threshold: float) -> Callable[[Answers], Flags]:
    thresholds = FittedThresholds(model, ())
    return lambda answers: np.asarray(answers.risk(thresholds) <= threshold)


@dataclass(frozen=True, slots=True)
class Outcome:
    """Of one resample and method: whether anything is sent, its untrue share, and the share of true sent."""

    sends: bool
    untrue: float
    true_sent: float


def outcome(sent: Flags, answers: Answers) -> Outcome:
    """Measure what is sent."""
    share = float(answers.expected[sent].mean()) if sent.any() else 0.0
    return Outcome(bool(sent.any()), share, float(sent[~answers.untrue].mean()))


def worlds(options: argparse.Namespace) -> None:
    """Print how often each method breaks its promise on each stream, and what it sends."""
    _line("stream", "ratings", *(f"{name}: broken / sends / of the true" for name in METHODS), "s")
    for name, (world, number, alpha) in WORLDS.items():
        if options.only and not any(each in name for each in options.only):
            continue
        began = perf_counter()
        everything = world.answers(np.random.default_rng(1))
        found: dict[str, list[Outcome]] = {method: [] for method in METHODS}
        for resample in range(options.resamples):
            ratings = world.ratings(np.random.default_rng((2, resample)), number)
            methods = METHODS if resample < options.resamples // _OTHERS_SHARE else {_PROMISE: promised}
            for method, fit in methods.items():
                found[method].append(outcome(fit(ratings, alpha)(everything), everything))
        cells = [_cell(outcomes, alpha) for outcomes in found.values()]
        _line(f"{name} (α {alpha:.0%})", str(number), *cells, f"{perf_counter() - began:.0f}")


#: A job fits each week to so many new ratings, for half a year, as far back as verdicts are looked at.
_WEEKS, _RATINGS_A_WEEK, _WEEKS_KEPT = 26, 100, 13


def weekly(options: argparse.Namespace) -> None:
    """Print how often a job that fits each week, until something is promised, breaks its promise.

    Once where every fit counts as an attempt, and once where those that promise nothing do not. Nothing tells
    true answers from untrue ones, of which there are a few too many: whatever is promised is broken.
    """
    world, _, alpha = WORLDS["nothing tells, 5.1% untrue"]
    _line("attempts that promise nothing", "broken within half a year")
    for counts, name in ((True, "count"), (False, "do not count")):
        broken = 0
        for resample in range(options.resamples):
            ratings = world.ratings(np.random.default_rng((5, resample)), _WEEKS * _RATINGS_A_WEEK)
            for week in range(1, _WEEKS + 1):
                recent = ratings[max(0, week - _WEEKS_KEPT) * _RATINGS_A_WEEK : week * _RATINGS_A_WEEK]
                found = propose(recent, Promise(alpha, DELTA), attempt=week if counts else 1)
                if found.thresholds.certificates:
                    broken += 1
                    break
        share = broken / options.resamples
        error = np.sqrt(share * (1 - share) / options.resamples)
        _line(name, f"{share:.1%} ± {error:.1%}")


def _cell(outcomes: Sequence[Outcome], alpha: float) -> str:
    broken = np.mean([each.untrue > alpha for each in outcomes])
    error = np.sqrt(broken * (1 - broken) / len(outcomes))
    sends = np.mean([each.sends for each in outcomes])
    true = np.mean([each.true_sent for each in outcomes])
    return f"{broken:.1%} ± {error:.1%} / {sends:.0%} / {true:.0%}"


#: A stream after so many audited answers without a change, and at most so many after it.
_BEFORE, _AFTER = 200, 4_000


def watch(options: argparse.Namespace) -> None:
    """Print false withdrawals, and how many answers are sent until a change is noticed."""
    alpha, chance = 0.05, np.random.default_rng(3)
    _line("mistakes", "withdrawn within 5,000 audits")
    for share in (1.0, 0.8, 0.5):
        alarms = _alarms(chance, np.full(5_000, share * alpha), options.resamples, alpha)
        rate = np.mean(alarms >= 0)
        error = np.sqrt(rate * (1 - rate) / len(alarms))
        _line(f"{share:g} α, no change", f"{rate:.1%} ± {error:.1%}")
    shares = (0.01, 0.02, 0.05)
    _line("change", "withdrawn", "audits, median", *(f"sent at {share:.0%} audited" for share in shares))
    for before, factor in ((1.0, 2), (1.0, 3), (0.5, 2), (0.5, 3), (0.5, 6)):
        rates = np.r_[np.full(_BEFORE, before * alpha), np.full(_AFTER, before * factor * alpha)]
        alarms = _alarms(chance, rates, options.resamples, alpha)
        later = alarms[(alarms < 0) | (alarms >= _BEFORE)]
        waits = np.where(later < 0, np.inf, later - _BEFORE + 1.0)
        median = float(np.median(waits))
        sent = ["-" if median == np.inf else f"{median / share:,.0f}" for share in shares]
        _line(f"{before:g} α × {factor}", f"{np.mean(waits < np.inf):.0%}", f"{median:g}", *sent)


def _alarms(
    chance: np.random.Generator, rates: Floats, streams: int, alpha: float
) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
    """Return the audit at which each stream is withdrawn, from 0; -1: never."""
    found = np.full(streams, -1)
    capitals = np.zeros((streams, len(ErrorWatch(alpha, DELTA).capitals)))
    for audited, rate in enumerate(rates):
        capitals, evidence = step(capitals, audited, chance.random(streams) < rate, alpha)
        found = np.where((found < 0) & (evidence >= 1 / DELTA), audited, found)
    return found


def recorded_answers(options: argparse.Namespace) -> None:
    """Print what ratings of recorded answers promise, and what is sent and blocked by it."""
    _line(
        "answers",
        "ratings",
        "broken",
        "promises",
        "true sent",
        "untrue blocked",
        "blocking broken",
        "true sent of unrated",
        "untrue among these",
    )
    for name, answers in recorded(Path(options.kept)):
        for ratings in (60, 200):
            found = resampled(answers, ratings, options.resamples)
            _line(f"{name} ({len(answers)})", str(ratings), *(f"{each:.1%}" for each in astuple(found)))


def calibration(options: argparse.Namespace) -> None:
    """Print how well fitted risks agree with recorded ratings that they have not seen."""
    _line("answers", "inputs", "Brier", "of the score alone", "of the share of mistakes", "risk: mistakes")
    for name, answers in recorded(Path(options.kept)):
        found = fit_risk(risk_examples([each.drawn(number) for number, each in enumerate(answers)]))
        assert isinstance(found, FittedRisk)
        shown = found.calibration
        bins = ", ".join(f"{each.risk:.2f}: {each.mistakes.value:.2f}" for each in shown.bins)
        briers = (shown.brier, shown.brier_score_alone, shown.brier_constant)
        _line(name, str(len(found.model.weights)), *(f"{each:.3f}" for each in briers), bins)


def cost(_options: argparse.Namespace) -> None:
    """Print what inputs, certificates and a whole decision take for one answer, with many of each."""
    kind = next(kind for kind, rule in RULES_BY_KIND.items() if rule and rule.effect is RuleEffect.REVIEW)
    evidence = Evidence(kind, "word", 0, 4)
    features = tuple(FeatureValue(f"feature {n}", 0.5, (evidence,) * 3) for n in range(10))
    answer = ScoredAnswer(
        2.5, MessageType.BINARY, "nl", features=features, support=0.4, contradiction=0.6, profile="truthgate"
    )
    opinion = Opinion("single", ("m",), "p", Label.FALSE, 0.8, score=1.0)
    world, number, alpha = WORLDS["600 ratings"]
    ratings = world.ratings(np.random.default_rng(2), number)
    weights = tuple((name, 1.0) for name in (*INPUTS, *(f"rule:{n}" for n in range(20))))
    certificates = propose(ratings, Promise(alpha, DELTA)).thresholds.certificates
    thresholds = FittedThresholds(RiskModel("large", 0.0, weights), certificates * 20)
    versions = rating_versions(answer.profile, answer.scorer_version, None, (opinion,))
    covering = tuple(replace(each, groups=("binary nl",), versions=tuple(versions)) for each in certificates)
    active = ActivePolicy("fitted", FittedThresholds(thresholds.model, covering * 20))
    decide = Policy().decide

    def alone() -> None:
        inputs = risk_inputs(answer, (opinion,), 400)
        thresholds.decide(inputs, "group 0", versions, may_be_sent=True)

    _line("what", "ms an answer")
    for name, work in (
        ("inputs and certificates alone", alone),
        ("the whole decision by the settings", lambda: decide(answer, (opinion,))),
        ("the whole decision by a fitted policy", lambda: decide(answer, (opinion,), active=active)),
    ):
        began = process_time()
        for _ in range(_DECISIONS):
            work()
        _line(name, f"{1000 * (process_time() - began) / _DECISIONS:.4f}")


def _line(*cells: str) -> None:
    sys.stdout.write(f"| {' | '.join(cells)} |\n")
    sys.stdout.flush()


def main() -> None:
    """Read the arguments and run."""
    parts = {
        "worlds": worlds,
        "weekly": weekly,
        "recorded": recorded_answers,
        "calibration": calibration,
        "watch": watch,
        "cost": cost,
    }
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=list(parts))
    parser.add_argument("--resamples", type=int, default=1_000)
    parser.add_argument("--only", nargs="*", help="worlds whose names have this in them")
    parser.add_argument("--kept", default="dist/promise", help="folder that keeps the scored answers")
    options = parser.parse_args()
    parts[options.part](options)


if __name__ == "__main__":
    main()
