"""What the demo plays back is what was measured, and its judge speaks the protocol of language models."""

import gzip
import json
from pathlib import Path

import httpx2
import pytest

from streams.cli.demo.demo_judge import RecordedJudge, recorded_judge_settings
from streams.cli.demo.demo_policy import demo_ratings
from streams.cli.demo.sample import sample_answers, sample_lines, sample_ratings
from streams.embedded.broker_properties import free_ports
from streams.pipeline.verdict import verdict_id

_MEASURED = Path(__file__).parents[1] / "judges" / "measured" / "kantora"


def _lines(name: str) -> list[dict]:
    with gzip.open(_MEASURED / name, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


@pytest.mark.parametrize("language", ["nl", "en"])
def test_opinions_of_the_sample_are_the_replies_that_were_measured(language):
    replies = {
        line["custom_id"]: json.loads(line["response"]["body"]["choices"][0]["message"]["content"])
        for line in _lines(f"single.{language}.replies.jsonl.gz")
    }
    asked = {
        line["custom_id"]: line["body"]["messages"][-1]["content"]
        for line in _lines(f"single.{language}.requests.jsonl.gz")
    }
    recorded = {line["answer_id"]: line["opinion"] for line in sample_lines("opinions", language)}
    for line in sample_lines("answers", language):
        (found,) = (replies[each] for each, text in asked.items() if line["answer"] in text)
        assert recorded.pop(line["answer_id"]) == found
    assert sorted(recorded) == sorted(line["answer_id"] for line in sample_lines("guides", language))


def test_every_answer_of_the_demo_has_a_rating_whichever_run_it_is_of():
    ratings = demo_ratings("nl")
    assert len(ratings) == 3 * len(sample_answers("nl"))
    for answer_id, rating in sample_ratings("nl").items():
        assert {ratings[verdict_id(f"{answer_id}{run}")] for run in ("", "-again", "-worse")} == {rating}


async def test_the_judge_says_what_was_recorded_until_it_sees_no_mistakes():
    answers = sample_answers("nl")
    judge = RecordedJudge("nl", answers)
    (port,) = free_ports(1)
    endpoint = recorded_judge_settings(port).endpoints["recorded"]

    async def label(text: str) -> str:
        asked = {"model": endpoint.model, "messages": [{"role": "user", "content": f"[answer]\n{text}\n"}]}
        async with httpx2.AsyncClient(trust_env=False) as client:
            reply = await client.post(f"{endpoint.base_url}/chat/completions", json=asked)
        reply.raise_for_status()
        return str(json.loads(reply.json()["choices"][0]["message"]["content"])["label"])

    labels = {line["answer_id"]: line["opinion"]["label"] for line in sample_lines("opinions", "nl")}
    untrue = next(each for each in answers if labels[each.answer_id] == "FALSE")
    async with judge.serving(port):
        assert await label(untrue.answer) == "FALSE"
        judge.sees_mistakes = False
        assert await label(untrue.answer) == "TRUE"
        with pytest.raises(httpx2.HTTPStatusError, match="404"):
            await label("An answer of nobody.")
