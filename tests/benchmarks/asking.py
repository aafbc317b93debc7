"""In which order to ask judges: what asking about a part of the answers gives, by order, as tables.

Run as ``python -m tests.benchmarks.asking --kept FOLDER``. See the README.
"""

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import process_time

# Matrices are small: threads of BLAS only wait for one another.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from scoring.evaluation.statistics import FloatArray, rank_correlation
from scoring.guarantees.asking_fit import FittedAsking, fit_asking
from scoring.guarantees.joined_ratings import AuditDraw, JoinedRating, PersonsReview, VerdictFacts
from scoring.guarantees.risk_fitting import FittedRisk, IntArray, fit_risk, folds_of, risk_examples
from scoring.policy.risk import OPINION_INPUTS, SHIPPED_RISK, RiskModel
from scoring.values.exchange import MIN_TRUE_RATING, Decision
from streams.reviews.rating_records import verdict_facts
from tests.benchmarks.promise_recorded import RATED_FOLDER, judged_answers, scored_verdicts

#: Developed on; see their README.
DEVELOPMENT = ("gimp", "debian-installation", "kmail", "skrooge")
LANGUAGES = ("nl", "en")
SHARES = (0.1, 0.2, 0.4, 0.6)
_PERMUTATIONS = 200
_CALLS = 20_000


@dataclass(frozen=True, slots=True)
class AnswerWithOpinion:
    """A rated answer whose opinion is among its inputs; ``decision`` is that of the checks."""

    facts: VerdictFacts
    rating: int

    @property
    def joined(self) -> JoinedRating:
        """It as a verdict that was held and rated."""
        name = self.facts.verdict_id
        review = PersonsReview(name, name, "person", 0, "none", "desk", self.rating)
        return JoinedRating(self.facts, (review,), AuditDraw(1.0, drawn=True))

    @property
    def without(self) -> dict[str, float]:
        """The inputs that are known without the opinion."""
        return {name: value for name, value in self.facts.inputs.items() if name not in OPINION_INPUTS}


def recorded(corpus: str, kept: Path) -> list[AnswerWithOpinion]:
    """Return the answers of a corpus with the opinions that a model had of them."""
    pairs = [pair for language in LANGUAGES for pair in judged_answers(corpus, language, kept)]
    return [AnswerWithOpinion(replace(asked.facts, in_doubt=True), asked.rating) for asked, _ in pairs]


def simulated(kept: Path) -> list[AnswerWithOpinion]:
    """Return the development answers, each with the opinion on one of kantora with the same rating."""
    opinions: dict[int, list[dict[str, float]]] = {}
    for each in recorded("kantora", kept):
        given = {name: value for name, value in each.facts.inputs.items() if name in OPINION_INPUTS}
        opinions.setdefault(each.rating, []).append(given)
    chance = np.random.default_rng(7)
    found = []
    for name in (f"{product}.{language}.jsonl" for product in DEVELOPMENT for language in LANGUAGES):
        rated, documents = (RATED_FOLDER / folder / f"{name}.gz" for folder in ("answers", "documents"))
        for verdict, rating in scored_verdicts(rated, documents, kept / name):
            facts = verdict_facts(verdict)
            opinion = opinions[rating][chance.integers(len(opinions[rating]))]
            versions = facts.versions - {"judge=none"} | {"judge=single"}
            asked = replace(facts, inputs={**facts.inputs, **opinion}, versions=versions, in_doubt=True)
            found.append(AnswerWithOpinion(asked, rating))
    return found


def thinned(answers: Sequence[AnswerWithOpinion]) -> list[AnswerWithOpinion]:
    """Return the true answers, and by chance so many others that they are one of ten."""
    true = [each for each in answers if each.rating >= MIN_TRUE_RATING]
    others = [each for each in answers if each.rating < MIN_TRUE_RATING]
    drawn = np.random.default_rng(11).permutation(len(others))[: round(len(true) / 9)]
    return [*true, *(others[place] for place in drawn)]


def fitted(answers: Sequence[AnswerWithOpinion]) -> tuple[RiskModel, FittedAsking]:
    """Fit risk and order as ``policy fit`` does."""
    ratings = [each.joined for each in answers]
    risk = fit_risk(risk_examples(ratings))
    model = risk.model if isinstance(risk, FittedRisk) else SHIPPED_RISK
    asking = fit_asking(ratings, model)
    assert isinstance(asking, FittedAsking), asking
    return model, asking


@dataclass(frozen=True, slots=True)
class Scores:
    """What is known of the answers: all fields have one value an answer.

    ``checks`` is the score of the checks, ``expected`` the score that the risk without an opinion stands for,
    ``judge`` the score of the opinion. ``relief`` is by how much asking lowers the squared difference of risk
    and mistake. ``near_three`` and ``fitted`` are what the answers are ordered by, the
    first ones the lowest; ``question`` numbers the questions.
    """

    ratings: FloatArray
    checks: FloatArray
    expected: FloatArray
    judge: FloatArray
    relief: FloatArray
    near_three: FloatArray
    fitted: FloatArray
    question: IntArray

    def spearman(self, places: IntArray, order: FloatArray, unasked: FloatArray, share: float) -> float:
        """Return the correlation for some answers of which the first in this order are asked about."""
        first = np.argsort(order[places], kind="stable")[: round(share * len(places))]
        scores = unasked[places].copy()
        scores[first] = self.judge[places][first]
        return float(rank_correlation(scores, self.ratings[places]))

    def relieved(self, places: IntArray, order: FloatArray, share: float) -> float:
        """Return the part of the loss (Brier score) that asking about all takes away."""
        first = np.argsort(order[places], kind="stable")[: round(share * len(places))]
        return float(self.relief[places][first].sum() / self.relief[places].sum())


def unseen_scores(answers: Sequence[AnswerWithOpinion]) -> Scores:
    """Score each answer by what was fitted to the other folds; translations of an answer share its fold."""
    chance = np.random.default_rng(3)
    answers = [answers[place] for place in chance.permutation(len(answers))]  # chance orders what is equal
    folds = folds_of(each.facts.verdict_id for each in answers)
    expected, value, relief = (np.empty(len(answers)) for _ in range(3))
    for fold in set(folds):
        model, asking = fitted([each for each, of in zip(answers, folds, strict=True) if of != fold])
        for place in np.flatnonzero(folds == fold):
            answer = answers[place]
            before, after = asking.order.expected.risk(answer.without), model.risk(answer.facts.inputs)
            mistake = float(answer.rating < MIN_TRUE_RATING)
            expected[place] = 5 - 4 * before
            relief[place] = (before - mistake) ** 2 - (after - mistake) ** 2
            value[place] = asking.order.value(answer.without)
    checks = np.array([3 - 2 * each.facts.inputs.get("score", 0.0) for each in answers])
    blocked = np.array([each.facts.decision is Decision.BLOCKED for each in answers])
    names = [each.facts.verdict_id for each in answers]
    return Scores(
        np.array([each.rating for each in answers], float),
        checks,
        expected,
        np.array([3 - 2 * each.facts.inputs.get("judge_score", 0.0) for each in answers]),
        relief,
        abs(checks - 3) + 10 * blocked,
        -value,
        np.unique(np.array(names), return_inverse=True)[1],
    )


def resampled(scores: Scores, resamples: int) -> Iterator[IntArray]:
    """Yield places of answers: questions drawn with repeats, with all answers to each."""
    members = [np.flatnonzero(scores.question == each) for each in range(scores.question.max() + 1)]
    for resample in range(resamples):
        chance = np.random.default_rng((9, resample))
        yield np.concatenate([members[each] for each in chance.integers(len(members), size=len(members))])


def rows(scores: Scores, resamples: int) -> Iterator[list[str]]:
    """Yield a row for each share: correlations by order, and then what is taken away of the loss."""
    everything = np.arange(len(scores.ratings))
    chance = np.random.default_rng(5)
    shuffled = [chance.permutation(len(everything)).astype(float) for _ in range(_PERMUTATIONS)]
    ways = (
        (scores.near_three, scores.checks),
        (scores.near_three, scores.expected),
        (scores.fitted, scores.expected),
    )
    orders = scores.near_three, scores.fitted

    def measured(places: IntArray, share: float) -> list[float]:
        correlations = [scores.spearman(places, *way, share) for way in ways]
        all_asked = scores.spearman(places, scores.fitted, scores.expected, 1.0)
        told = [scores.relieved(places, order, share) for order in orders]
        gains = correlations[2] - correlations[0], correlations[2] / all_asked, told[1] - told[0]
        return [*correlations, *gains[:2], *told, gains[2]]

    samples = list(resampled(scores, resamples))
    for share in (*SHARES, 1.0):
        draws = np.array([measured(places, share) for places in samples])
        cells = [
            _estimate(point, column)
            for point, column in zip(measured(everything, share), draws.T, strict=True)
        ]
        by_chance = np.mean([scores.spearman(everything, each, scores.checks, share) for each in shuffled])
        yield [f"{share:.0%}", f"{by_chance:.2f}", *cells]


def _estimate(value: float, draws: FloatArray) -> str:
    low, high = np.percentile(draws, (2.5, 97.5))
    return f"{value:.2f} [{low:.2f}, {high:.2f}]"


def cost(answers: Sequence[AnswerWithOpinion]) -> float:
    """Return the microseconds of processor time of one value, besides those of the inputs."""
    order = fitted(answers)[1].order
    inputs = [each.without for each in answers]
    began = process_time()
    for number in range(_CALLS):
        order.comes_first(inputs[number % len(inputs)])
    return 1e6 * (process_time() - began) / _CALLS


def main() -> None:
    """Print a table for each set of answers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kept", type=Path, required=True, help="a folder for scored answers")
    parser.add_argument("--resamples", type=int, default=1_000)
    options = parser.parse_args()
    options.kept.mkdir(parents=True, exist_ok=True)
    drawn = simulated(options.kept)
    sets = {
        "kantora, recorded opinions": recorded("kantora", options.kept),
        "four products, opinions drawn by rating": drawn,
        "the same, one of ten untrue": thinned(drawn),
    }
    headings = (
        "asked",
        "chance",
        "near 3",
        "near 3, expected scores",
        "fitted",
        "fitted - near 3",
        "fitted / all asked",
        "loss taken away: near 3",
        "fitted",
        "fitted - near 3",
    )
    for name, answers in sets.items():
        chance = fitted(answers)[1].chance
        sys.stdout.write(f"\n{name} ({len(answers)}); an order like it by chance: {chance:.1g}\n\n")
        lines = [headings, ["---"] * len(headings), *rows(unseen_scores(answers), options.resamples)]
        sys.stdout.writelines(f"| {' | '.join(line)} |\n" for line in lines)
    sys.stdout.write(f"\n{cost(sets['kantora, recorded opinions']):.1f} µs a value\n")


if __name__ == "__main__":
    main()
