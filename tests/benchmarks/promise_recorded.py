"""Rated answers of the repository, scored, with a capable model's recorded opinions where there are any."""

import gzip
import json
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from schemas import Verdict
from schemas.validation import from_json
from scoring.guarantees.certification import propose
from scoring.guarantees.joined_ratings import AuditDraw, JoinedRating, PersonsReview, VerdictFacts
from scoring.judges.opinion_json import OpinionForm
from scoring.policy.certificates import Promise
from scoring.policy.risk import risk_inputs
from scoring.values.exchange import Decision
from streams.reviews.rating_records import verdict_facts
from tests.support.commands import clean_environment, command

ROOT = Path(__file__).parents[2]
_MEASURED = ROOT / "tests" / "unit" / "judges" / "measured"
RATED_FOLDER = ROOT / "training" / "rated"
JUDGED = ("kantora", "gnome-help")
#: Three of the corpus that have been opened; see its README.
RATED = ("debian-installation", "gimp", "korganizer")
ALPHA, DELTA = 0.05, 0.05


@dataclass(frozen=True, slots=True)
class RecordedAnswer:
    """A scored answer, its rating, and whether a model's opinion is among its inputs."""

    facts: VerdictFacts
    rating: int

    @property
    def untrue(self) -> bool:
        """Whether it is untrue or partly untrue."""
        return self.rating < 4

    def drawn(self, number: int) -> JoinedRating:
        """Return it as the n-th verdict of a stream of which everything is held and rated."""
        name = f"{number}"
        review = PersonsReview(name, name, "person", number, "none", "desk", self.rating)
        facts = replace(self.facts, verdict_id=name, scored_at=number, answer_key="")
        return JoinedRating(facts, (review,), AuditDraw(1.0, drawn=True))


def recorded(kept: Path) -> Iterator[tuple[str, list[RecordedAnswer]]]:
    """Yield answers by how they are judged; scoring them takes minutes, so ``kept`` keeps verdicts."""
    kept.mkdir(parents=True, exist_ok=True)
    judged = [
        pair
        for corpus in JUDGED
        for language in ("nl", "en")
        for pair in judged_answers(corpus, language, kept)
    ]
    yield "kantora and GNOME, with opinions", [with_judge for with_judge, _ in judged]
    yield "the same, without", [without for _, without in judged]
    files = [f"{product}.{language}.jsonl" for product in RATED for language in ("nl", "en")]
    yield (
        "three products, without",
        [
            RecordedAnswer(verdict_facts(verdict), rating)
            for name in files
            for verdict, rating in scored_verdicts(
                RATED_FOLDER / "answers" / f"{name}.gz",
                RATED_FOLDER / "documents" / f"{name}.gz",
                kept / name,
            )
        ],
    )


def judged_answers(corpus: str, language: str, kept: Path) -> Iterator[tuple[RecordedAnswer, RecordedAnswer]]:
    """Yield the answers of a corpus with the recorded opinions on them, and without."""
    folder = _MEASURED / corpus
    answers, documents = (folder / f"{name}.{language}.jsonl.gz" for name in ("answers", "documents"))
    verdicts = scored_verdicts(answers, documents, kept / f"{corpus}.{language}.jsonl")
    opinions = _opinions(answers, documents, folder / f"single.{language}.replies.jsonl.gz", kept)
    for (verdict, rating), line in zip(verdicts, opinions, strict=True):
        assert line["answer_id"] == verdict.answer_id
        opinion = OpinionForm.model_validate(line["opinion"], strict=False).opinion(verdict.answer)
        facts = verdict_facts(verdict)
        inputs = risk_inputs(verdict, [opinion], len(verdict.answer))
        asked = replace(facts, inputs=inputs, versions=facts.versions - {"judge=none"} | {"judge=single"})
        yield RecordedAnswer(asked, rating), RecordedAnswer(facts, rating)


def scored_verdicts(answers: Path, documents: Path, kept: Path) -> list[tuple[Verdict, int]]:
    """Return the verdicts on rated answers with their ratings; ``kept`` has those that were made before."""
    with gzip.open(answers, "rt", encoding="utf-8") as file:
        ratings = {line["answer_id"]: line["rating"] for line in map(json.loads, file)}
    if not kept.exists():
        sys.stderr.write(f"scoring {answers.name}\n")
        with TemporaryDirectory() as temporary:
            given, used = (_unpacked(each, Path(temporary)) for each in (answers, documents))
            kept.write_text(_output("score", given, "--documents", used, "--processes", "1"), "utf-8")
    verdicts = [from_json(line, Verdict) for line in kept.read_bytes().splitlines()]
    return [(each, ratings[each.answer_id]) for each in verdicts]


def _opinions(answers: Path, documents: Path, replies: Path, kept: Path) -> list[dict[str, object]]:
    found = kept / f"opinions.{replies.parent.name}.{replies.name.removesuffix('.gz')}"
    if not found.exists():
        with TemporaryDirectory() as temporary:
            given, used, said = (_unpacked(each, Path(temporary)) for each in (answers, documents, replies))
            options = ("--method", "single", "--documents", used, "--replies", said)
            found.write_text(_output("judge", "import", given, *options), "utf-8")
    return [json.loads(line) for line in found.read_text("utf-8").splitlines()]


def _output(*arguments: str | Path) -> str:
    done = subprocess.run(
        command(*arguments), capture_output=True, check=False, text=True, env=clean_environment()
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def _unpacked(packed: Path, folder: Path) -> Path:
    path = folder / f"{packed.parent.name}.{packed.stem}"
    path.write_bytes(gzip.decompress(packed.read_bytes()))
    return path


@dataclass(frozen=True, slots=True)
class RecordedFigures:
    """Means over resamples, as shares: broken promises, those with any, and what is sent and blocked.

    ``sent`` is the share of the true answers, of ``blocked`` of the untrue ones. ``sent_unseen`` is that of
    the answers that were not rated, where ratings are drawn without repeats, and ``untrue_unseen`` the share
    of untrue ones among all that are sent of these.
    """

    broken: float
    promises: float
    sent: float
    blocked: float
    block_broken: float
    sent_unseen: float
    untrue_unseen: float


def resampled(answers: Sequence[RecordedAnswer], ratings: int, resamples: int) -> RecordedFigures:
    """Draw so many ratings again and again, and see what is promised of all answers, and of the others.

    With repeats the answers are the population that ratings are drawn from, so that a promise about it is
    kept or broken for certain.
    """
    promise = Promise(ALPHA, DELTA)
    untrue = np.array([each.untrue for each in answers])
    surely_untrue = np.array([each.rating < 3 for each in answers])
    rows, unseen_sent, unseen_true, unseen_untrue = [], 0, 0, 0
    for resample in range(resamples):
        chance = np.random.default_rng((4, resample))
        places = chance.integers(len(answers), size=ratings)
        sent, blocked = _decided(answers, places, promise)
        share = untrue[sent].mean() if sent.any() else 0.0
        wrongly = (~surely_untrue)[blocked].mean() if blocked.any() else 0.0
        rows.append(
            (
                share > ALPHA,
                sent.any(),
                sent[~untrue].mean(),
                blocked[surely_untrue].mean(),
                wrongly > ALPHA,
            )
        )
        some = chance.permutation(len(answers))[:ratings]
        unseen = np.ones(len(answers), bool)
        unseen[some] = False
        sent, _ = _decided(answers, some, promise)
        unseen_sent += int((sent & unseen & ~untrue).sum())
        unseen_untrue += int((sent & unseen & untrue).sum())
        unseen_true += int((unseen & ~untrue).sum())
    broken, promises, sent_share, blocked_share, block_broken = np.array(rows, float).mean(axis=0)
    all_sent = unseen_sent + unseen_untrue
    return RecordedFigures(
        float(broken),
        float(promises),
        float(sent_share),
        float(blocked_share),
        float(block_broken),
        unseen_sent / unseen_true,
        unseen_untrue / all_sent if all_sent else 0.0,
    )


def _decided(
    answers: Sequence[RecordedAnswer], places: Iterable[int], promise: Promise
) -> "tuple[np.ndarray[tuple[int], np.dtype[np.bool_]], np.ndarray[tuple[int], np.dtype[np.bool_]]]":
    ratings = [answers[place].drawn(number) for number, place in enumerate(places)]
    thresholds = propose(ratings, promise, promise).thresholds
    decided = [
        thresholds.decide(
            each.facts.inputs,
            each.facts.group,
            tuple(each.facts.versions),
            may_be_sent=each.facts.may_be_sent,
        )
        for each in answers
    ]
    decisions = [each and each[0] for each in decided]
    return (
        np.array([each is Decision.AUTO_SEND for each in decisions]),
        np.array([each is Decision.BLOCKED for each in decisions]),
    )
