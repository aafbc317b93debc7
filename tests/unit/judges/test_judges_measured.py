"""What a capable model once replied: its requests are still made so, and the figures still come of it.

A prompt that is changed makes other requests, so these tests fail: the figures are those of the prompts that
ship, and have to be measured anew. How, and on what, says ``measured/README.md``.
"""

import gzip
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from scoring.evaluation.cases import NEUTRAL, EvaluationCase
from scoring.evaluation.opinion_report import JudgeRun, Simulation, evaluate_judges
from scoring.judges.opinion_json import OpinionForm
from scoring.policy import Policy
from scoring.values.exchange import Decision, MessageType
from scoring.values.opinion import Label, Opinion
from scoring.values.rules import Reason
from scoring.values.scored_answer import ScoredAnswer
from tests.support.commands import truthgate_here

MEASURED = Path(__file__).parent / "measured"
CORPORA = ("kantora", "gnome-help")
LANGUAGES = ("nl", "en")
COMPARED = ("sequential", "adaptive", "io", "cot", "faithfulness")
TAU = Policy().send_confidence
RATED = ((4, 5), (3,), (1, 2))


class Batch(NamedTuple):
    """One file of answers, judged by one method; ``method`` single has judged all, the others a sample."""

    corpus: str
    language: str
    method: str

    @property
    def answers(self) -> str:
        """The file of the answers."""
        return f"{'answers' if self.method == 'single' else 'sample'}.{self.language}"

    def unpacked(self, name: str, folder: Path) -> Path:
        """Give one of its files for a command to read."""
        return unpacked(MEASURED / self.corpus / f"{name}.jsonl.gz", folder)


def lines(packed: Path) -> list[dict[str, Any]]:
    with gzip.open(packed, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def unpacked(packed: Path, folder: Path) -> Path:
    path = folder / packed.stem
    path.write_bytes(gzip.decompress(packed.read_bytes()))
    return path


def opinions_of(batch: Batch, folder: Path) -> list[dict[str, Any]]:
    """Import the replies, all of which are to requests that are made today; give the opinions."""
    given = (batch.unpacked(batch.answers, folder), "--method", batch.method)
    documents = ("--documents", batch.unpacked(f"documents.{batch.language}", folder))
    replies = ("--replies", batch.unpacked(f"{batch.method}.{batch.language}.replies", folder))
    done = truthgate_here("judge", "import", *given, *documents, *replies)
    assert (done.returncode, done.stderr.count("no more requests")) == (0, 1), done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def pairs(batch: Batch, folder: Path) -> Iterator[tuple[EvaluationCase, Opinion]]:
    """Give the opinions beside their answers, as if the checks had left every one of them for review."""
    answers = lines(MEASURED / batch.corpus / f"{batch.answers}.jsonl.gz")
    for answer, line in zip(answers, opinions_of(batch, folder), strict=True):
        assert line["answer_id"] == answer["answer_id"]
        case = EvaluationCase(
            answer_id=answer["answer_id"],
            recognised=MessageType.UNSPECIFIED,
            language=batch.language,
            score=None,
            decision=Decision.REVIEW,
            reasons=(Reason.MIDDLE_SCORE,),
            rating=answer["rating"],
        )
        yield case, OpinionForm.model_validate(line["opinion"], strict=False).opinion(answer["answer"])


def run_of(folder: Path, method: str, *corpora: str) -> JudgeRun:
    batches = [Batch(corpus, language, method) for corpus in corpora for language in LANGUAGES]
    found = [pair for batch in batches for pair in pairs(batch, folder)]
    (run,) = evaluate_judges({method: found}, TAU, Simulation())
    return run


def decided(run: JudgeRun) -> tuple[str, str, str]:
    """Give how many true and untrue answers are sent, and untrue ones blocked, at the shipped confidence."""
    (row,) = (row for row in run.sending_alone if row.tau == TAU)
    shares = row.true_sent, row.untrue_sent, row.untrue_blocked
    return tuple(f"{share.count}/{share.total}" for share in shares if share)


BATCHES = [
    Batch(corpus, language, method)
    for corpus in CORPORA
    for language in LANGUAGES
    for method in ("single", *COMPARED)
]


@pytest.mark.parametrize("batch", BATCHES, ids="-".join)
def test_the_requests_that_were_replied_to_are_those_that_are_made_today(batch, tmp_path):
    stored = lines(MEASURED / batch.corpus / f"{batch.method}.{batch.language}.requests.jsonl.gz")
    done = truthgate_here(
        *("judge", "export", batch.unpacked(batch.answers, tmp_path), "--method", batch.method),
        *("--documents", batch.unpacked(f"documents.{batch.language}", tmp_path)),
    )
    first = [json.loads(line) for line in done.stdout.splitlines()]
    assert first
    assert stored[: len(first)] == first
    replied = lines(MEASURED / batch.corpus / f"{batch.method}.{batch.language}.replies.jsonl.gz")
    assert {each["custom_id"] for each in replied} == {each["custom_id"] for each in stored}


@pytest.mark.parametrize(
    ("corpus", "figures", "spearman"),
    [("kantora", ("76/88", "0/52", "52/52"), 0.95), ("gnome-help", ("86/96", "0/76", "68/76"), 0.94)],
)
def test_the_default_method_sends_and_blocks_what_the_readme_says(corpus, figures, spearman, tmp_path):
    run = run_of(tmp_path, "single", corpus)
    assert decided(run) == figures
    assert run.rankings.judge.spearman
    assert round(run.rankings.judge.spearman.value, 2) == spearman


@pytest.mark.parametrize(
    ("method", "figures"),
    [
        ("sequential", ("30/35", "0/20", "17/20")),
        ("adaptive", ("26/35", "0/20", "19/20")),
        ("io", ("31/35", "0/20", "20/20")),
        ("cot", ("31/35", "0/20", "20/20")),
        ("faithfulness", ("29/35", "0/20", "6/20")),
    ],
)
def test_the_other_methods_do_on_the_sample_what_the_table_says(method, figures, tmp_path):
    assert decided(run_of(tmp_path, method, *CORPORA)) == figures


#: Of true (rated 4, 5), half true (3) and untrue answers (1, 2): how many are sent, and how many blocked.
BY_LABEL = {"kantora": ((76, 0), (0, 14), (0, 52)), "gnome-help": ((86, 0), (0, 28), (0, 72))}
BY_POLICY = {"kantora": ((76, 0), (0, 13), (0, 52)), "gnome-help": ((86, 0), (0, 0), (0, 68))}


def by_label(opinion: Opinion) -> Decision:
    """Decide by label and confidence alone, as the policy once did."""
    decisions = {Label.TRUE: Decision.AUTO_SEND, Label.FALSE: Decision.BLOCKED}
    if opinion.label is None or opinion.confidence < TAU:
        return Decision.REVIEW
    return decisions.get(opinion.label, Decision.REVIEW)


def by_policy(opinion: Opinion) -> Decision:
    """Decide by the shipped policy on an answer that no check says anything about."""
    return Policy().decide(ScoredAnswer(NEUTRAL, MessageType.UNSPECIFIED, None), [opinion]).decision


@pytest.mark.parametrize("corpus", CORPORA)
def test_the_policy_sends_no_fewer_true_answers_than_labels_would_and_blocks_none_for_a_detail(
    corpus, tmp_path
):
    found = [
        (case.rating or 0, opinion)
        for language in LANGUAGES
        for case, opinion in pairs(Batch(corpus, language, "single"), tmp_path)
    ]

    def counted(decide: Callable[[Opinion], Decision]) -> tuple[tuple[int, int], ...]:
        groups = ([decide(opinion) for rating, opinion in found if rating in of] for of in RATED)
        return tuple((each.count(Decision.AUTO_SEND), each.count(Decision.BLOCKED)) for each in groups)

    assert (counted(by_label), counted(by_policy)) == (BY_LABEL[corpus], BY_POLICY[corpus])


def test_no_hostile_text_changes_a_label(tmp_path):
    hostile = MEASURED / "hostile"
    answers = unpacked(hostile / "answers.jsonl.gz", tmp_path)
    done = truthgate_here(
        *("judge", "import", answers, "--method", "single"),
        *("--replies", unpacked(hostile / "single.replies.jsonl.gz", tmp_path)),
    )
    assert done.returncode == 0
    labels = [json.loads(line)["opinion"]["label"] for line in done.stdout.splitlines()]
    without = {
        (corpus, language, line["answer_id"]): line["opinion"]["label"]
        for corpus in CORPORA
        for language in LANGUAGES
        for line in opinions_of(Batch(corpus, language, "single"), tmp_path)
    }
    asked = lines(hostile / "answers.jsonl.gz")
    assert len(asked) == len(labels) == 177
    assert len({each["metadata"]["hostile"] for each in asked}) >= 60
    for answer, label in zip(asked, labels, strict=True):
        told = answer["metadata"]
        assert label == without[told["corpus"], answer["language"], told["of"]], told
