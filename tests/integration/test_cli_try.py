"""``truthgate try`` with a worker and without one."""

import json

from schemas import ChatbotAnswer, Codec
from tests.support.commands import truthgate, variables
from tests.support.records import consume_all
from tests.support.workers import Worker, changed


def test_an_answer_that_is_tried_has_its_verdict(settings, topics, tmp_path):
    with Worker(changed(settings, scoring={"processes": 1}), tmp_path) as worker:
        worker.wait_ready()
        shown = truthgate("try", environment=variables(settings))
        assert (shown.returncode, "review" in shown.stdout) == (0, True), shown.stderr
        told = truthgate("try", "--json", environment=variables(settings))
        assert worker.terminate() == 0
    assert json.loads(told.stdout)["answer_id"].startswith("truthgate-try-")


async def test_without_a_worker_no_verdict_comes_and_the_answer_waits(settings, topics):
    done = truthgate("try", "--timeout", "0.5", environment=variables(settings))
    assert (done.returncode, done.stdout) == (1, "")
    (record,) = await consume_all(settings.kafka, topics.answers)
    answer = Codec().decode(record.value, ChatbotAnswer)
    assert f"no verdict on {answer.answer_id} within 0.5 s" in done.stderr


def test_without_topics_it_says_how_to_make_them(settings):
    done = truthgate("try", environment=variables(settings))
    assert (done.returncode, "`truthgate topics create` creates it" in done.stderr) == (2, True)
