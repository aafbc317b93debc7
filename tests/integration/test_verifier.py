"""A worker asks the verifier that its settings name, and does not start with one that cannot be opened."""

import json
from datetime import UTC, datetime
from pathlib import Path

from schemas import Codec
from schemas.records import ChatbotAnswer, ContextPassage
from tests.support.ledger import outgoing, read_until_settled
from tests.support.records import produce
from tests.support.workers import Worker, changed

CODEC = Codec()
WHEN = datetime(2026, 3, 2, 9, 15, tzinfo=UTC)
#: Finds probable what has "yes" in it, and improbable what has "no".
TINY = Path(__file__).parents[1] / "unit" / "scoring" / "verifier" / "tiny"


def answer(answer_id: str, word: str) -> ChatbotAnswer:
    return ChatbotAnswer(
        answer_id,
        answer_id,
        "How long does the link work?",
        f"The link {word} {word} works for a week.",
        WHEN,
        context=(ContextPassage("d", "The link works for 24 hours."),),
        language="en",
    )


async def test_claims_in_doubt_are_as_the_verifier_finds_them_and_late_ones_go_to_review(
    settings, topics, tmp_path
):
    asking = changed(settings, scoring={"processes": 1, "verifier": {"folder": TINY, "timeout_seconds": 30}})
    hurried = changed(
        settings, scoring={"processes": 1, "verifier": {"folder": TINY, "timeout_seconds": 1e-9}}
    )
    probable, improbable, late = answer("probable", "yes"), answer("improbable", "no"), answer("late", "yes")
    with Worker(asking, tmp_path) as worker:
        worker.wait_ready()
        await produce(
            settings.kafka, topics.answers, [outgoing(each, CODEC) for each in (probable, improbable)]
        )
        await read_until_settled(settings, [probable, improbable])
        assert worker.terminate() == 0
    with Worker(hurried, tmp_path) as worker:
        worker.wait_ready()
        await produce(settings.kafka, topics.answers, [outgoing(late, CODEC)])
        ledger = await read_until_settled(settings, [probable, improbable, late])
        assert 'truthgate_degraded_total{code="verifier_timeout"} 1.0' in worker.metrics()
        assert worker.terminate() == 0
    verdicts = {verdict.answer_id: verdict for verdict in ledger.verdicts}
    status = {name: [claim.status for claim in verdict.claims] for name, verdict in verdicts.items()}
    assert status["probable"] == ["similar"]
    assert status["improbable"] == ["not_found"]
    assert verdicts["probable"].support > verdicts["late"].support > verdicts["improbable"].support
    assert (verdicts["late"].degraded, verdicts["late"].decision) == (("verifier_timeout",), "review")
    assert verdicts["probable"].degraded == verdicts["improbable"].degraded == ()


async def test_a_worker_with_a_folder_that_holds_no_verifier_ends_at_once_with_one_line(
    settings, topics, tmp_path
):
    empty = tmp_path / "empty"
    empty.mkdir()
    wrong = changed(settings, scoring={"verifier": {"folder": empty}})
    with Worker(wrong, tmp_path) as worker:
        assert worker.wait() == 2
        told = f"no verifier can be opened in {empty}: model.onnx is missing"
        last = json.loads(worker.log.splitlines()[-1])
        assert (last["event"], last["reason"]) == ("worker_failed", f"scoring: {told}")
        assert "Traceback" not in worker.log
