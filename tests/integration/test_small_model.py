"""A real model behind OpenAI's protocol is asked, and is away; what it says is of no interest."""

import json
import time
from collections.abc import Iterator

import pytest

from scoring.judges import Case, Message, ReferenceDocuments, Reply
from scoring.judges.requests import Failure, Finish
from scoring.values.exchange import Passage
from scoring.values.opinion import UnsureReason
from streams.llm.endpoints.chat_completion import AcceptedParameters, OutputMode
from streams.llm.endpoints.endpoint import CallOptions
from tests.support.judges import SCHEMA, complete_all, inquiry_about, judges_at, request
from tests.support.small_model import MODEL, SmallModel

CASE = Case(
    "How do I credit an invoice?",
    "Open the invoice and press Credit. A credit note is made for the whole amount.",
    ReferenceDocuments(
        (
            Passage(
                "d1", "Open the invoice, press Credit and choose the lines to credit.", "Credit an invoice"
            ),
        )
    ),
)


@pytest.fixture(scope="module")
def model() -> Iterator[SmallModel]:
    with SmallModel() as model:
        yield model


async def test_a_reply_has_the_form_of_its_schema_and_log_probabilities_of_its_text(model):
    async with judges_at(model.url, model=MODEL) as judges:
        (outcome,) = await complete_all(judges, 60, [request(logprobs=True)])
    assert isinstance(outcome, Reply)
    assert json.loads(outcome.text)["label"] in SCHEMA.content["properties"]["label"]["enum"]
    assert (outcome.finish, outcome.model) == (Finish.STOP, MODEL)
    assert outcome.tokens_in > 0
    assert outcome.tokens_out > 0
    assert "".join(token.text for token in outcome.logprobs) == outcome.text
    assert all(token.logprob <= 0 for token in outcome.logprobs)
    assert max(len(token.alternatives) for token in outcome.logprobs) >= 3


@pytest.mark.parametrize("output", OutputMode)
async def test_every_way_to_ask_for_a_form_is_taken(model, output):
    persistence = CallOptions(attempts=1, parameters=AcceptedParameters(output, falls_back=False))
    async with judges_at(model.url, options=persistence, model=MODEL) as judges:
        (outcome,) = await complete_all(judges, 60, [request(temperature=0.5, sample=1)])
    assert isinstance(outcome, Reply)


async def test_a_reply_that_is_cut_off_says_so_and_too_long_a_request_is_told(model):
    async with judges_at(model.url, model=MODEL) as judges:
        long = (Message("user", "word " * 20_000),)
        cut_off, refused = await complete_all(judges, 60, [request(max_tokens=3), request(messages=long)])
    assert isinstance(cut_off, Reply)
    assert cut_off.finish is Finish.LENGTH
    assert isinstance(refused, Failure)
    assert refused.code == "too_long"


@pytest.mark.parametrize("method", ["single", "cot-sc"])
async def test_a_whole_method_ends_in_an_opinion(model, method):
    limits = {"request_timeout_seconds": 120, "prices": [1, 1]}
    async with judges_at(model.url, model=MODEL, **limits) as judges:
        inquiry = inquiry_about(CASE, judges, 200, method, max_tokens=100, samples=2)
        opinion = await inquiry.ask()
    assert opinion is not None
    assert inquiry.cost
    assert opinion.usage.tokens_out > 0
    assert opinion.label or opinion.unsure in {
        UnsureReason.MALFORMED,
        UnsureReason.CUT_OFF,
        UnsureReason.DISAGREEMENT,
    }


async def test_a_model_that_freezes_and_one_that_is_killed_are_failures_in_time():
    with SmallModel() as model:
        async with judges_at(model.url, model=MODEL) as judges:
            model.freeze()
            began = time.monotonic()
            (frozen,) = await complete_all(judges, 1, [request()])
            assert time.monotonic() - began < 20
            model.go_on()
            (back,) = await complete_all(judges, 60, [request()])
            model.kill()
            (killed,) = await complete_all(judges, 5, [request()])
    assert frozen == Failure("timeout", frozen.seconds)
    assert isinstance(back, Reply)
    assert isinstance(killed, Failure)
    assert killed.code in {"connection_refused", "disconnected"}
