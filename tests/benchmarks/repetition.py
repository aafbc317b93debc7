"""What share of reviews known answers save, by how often questions and answers come again word for word.

The answers of the sample chat log are judged with the shipped policy; their ratings are what reviewers
decide. A help desk is drawn from them: its customers ask so many different questions, by Zipf's law, and
each question is as one of the sample: held or not, leaning on the conversation or not, true or not. Zipf's
law is that of queries at search engines (Xie and O'Hallaron, "Locality in Search Engine Queries and Its
Implications for Caching", 2001). That the questions of a help desk follow it, with which exponent, how many
different ones there are, and how often the chatbot repeats itself is assumed, and varied.
"""

import argparse
import asyncio
import json
import random
import sys
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import accumulate, product
from typing import Final, get_args

from scoring.policy import Policy
from scoring.values.exchange import Decision
from streams.cli.demo.sample import Language, sample_answers, sample_documents
from streams.desk.judgements import combine, judgement
from streams.known_answers.known_state import KnownAnswers, KnownAnswerState
from streams.pipeline.context import StaticDocuments
from streams.pipeline.pipeline import OfflinePipeline, Pipeline
from streams.scorers.options import scorer_options
from streams.scorers.pool import ScoringPool
from streams.settings import Settings
from tests.benchmarks.varied import WHEN
from tests.support.reviews import a_review

_SECONDS: Final = 60.0
_KNOWN: Final = (KnownAnswerState.TRUE, KnownAnswerState.UNTRUE)
_OUTCOMES: Final = {1: "reject", 2: "reject", 3: "send_edited", 4: "send", 5: "send"}


@dataclass(frozen=True, slots=True)
class Question:
    """A question with its answer: is it held, does it stand alone, and what do people say."""

    held: bool
    standalone: bool
    says: str | None


@dataclass(frozen=True, slots=True)
class HelpDesk:
    """An assumption: ``different`` questions by a Zipf exponent, and how often their answers change.

    ``repeats``: the share of answers that are word for word what the chatbot answered before.
    ``document_life``: after so many answers, on average, a document of a question has changed.
    """

    different: int
    exponent: float
    repeats: float
    document_life: int


async def sample_questions() -> list[Question]:
    """Judge the sample, with its ratings as what people say."""
    settings = Settings(policy=Policy(known_answers=True))
    found = []
    async with ScoringPool(settings.scoring.profile, 1, _SECONDS, scorer_options(settings)) as pool:
        for language in get_args(Language):
            documents = StaticDocuments.of(sample_documents(language))
            pipeline = Pipeline(
                documents,
                pool,
                settings.policy.decide,
                settings.scoring.profile,
                known_answers=KnownAnswers(),
            )
            ratings = dict(_ratings(language))
            for answer in sample_answers(language):
                verdict = await OfflinePipeline(pipeline, WHEN).verdict(answer)
                review = a_review(outcome=_OUTCOMES[ratings.get(answer.answer_id, 5)])
                held, key = verdict.decision == Decision.REVIEW, verdict.known_answer_key
                found.append(Question(held, key is not None, judgement(review)))
    return found


def _ratings(language: Language) -> Iterator[tuple[str, int]]:
    for line in (files("streams") / "sample" / f"answers.{language}.jsonl").read_text("utf-8").splitlines():
        content = json.loads(line)
        yield content["answer_id"], content["rating"]


def saved_share(
    sample: Sequence[Question], desk: HelpDesk, answers: int, delay: int, *, standalone: bool, seed: int
) -> float:
    """Return the share of held answers that need no review; a review counts ``delay`` answers later."""
    chance = random.Random(seed)
    questions = [chance.choice(sample) for _ in range(desk.different)]
    weights = list(accumulate(rank**-desk.exponent for rank in range(1, desk.different + 1)))
    versions = dict.fromkeys(range(desk.different), 0)
    says: defaultdict[object, set[str]] = defaultdict(set)
    waiting: deque[tuple[int, object, str]] = deque()
    held = saved = 0
    last = dict.fromkeys(range(desk.different), 0)
    for number, index in enumerate(chance.choices(range(desk.different), cum_weights=weights, k=answers)):
        while waiting and waiting[0][0] <= number:
            _, reviewed, word = waiting.popleft()
            says[reviewed].add(word)
        unchanged = (1 - 1 / desk.document_life) ** (number - last[index])
        versions[index] += chance.random() > unchanged
        last[index] = number
        key = index, versions[index], 0 if chance.random() < desk.repeats else number
        if not questions[index].held:
            continue
        held += 1
        if (questions[index].standalone or not standalone) and combine(says[key], None) in _KNOWN:
            saved += 1
        elif said := questions[index].says:
            waiting.append((number + delay, key, said))
    return saved / held


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--answers", type=int, default=10_000)
    parser.add_argument("--delay", type=int, default=10, help="answers until a review counts")
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    sample = asyncio.run(sample_questions())
    held = [each for each in sample if each.held]
    standalone = sum(each.standalone for each in held)
    sys.stdout.write(
        f"{len(sample)} answers, {len(held)} held, of which {standalone} stand alone\n\n"
        "| different questions | exponent | same answer | documents | saved | saved, if all stood alone |\n"
        "| --- | --- | --- | --- | --- | --- |\n"
    )
    lives = {10**9: "never change", 5_000: "change after 5,000 answers"}
    for desk in (
        HelpDesk(*each) for each in product((200, 2_000, 20_000), (0.7, 1.0), (1.0, 0.5, 0.1), lives)
    ):
        shares = [
            sum(
                saved_share(sample, desk, options.answers, options.delay, standalone=rule, seed=seed)
                for seed in range(options.runs)
            )
            / options.runs
            for rule in (True, False)
        ]
        row = (f"{desk.different:,}", desk.exponent, f"{desk.repeats:.0%}", lives[desk.document_life])
        sys.stdout.write(f"| {' | '.join(map(str, row))} | {shares[0]:.0%} | {shares[1]:.0%} |\n")


if __name__ == "__main__":
    main()
