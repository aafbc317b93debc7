"""The strict reading of replies, their schemas, and the probabilities of their tokens."""

import json
import math

import pytest

from scoring.judges import METHODS, Reply, Token
from scoring.judges.forms import (
    ChainReply,
    EvaluationReply,
    SupportsReply,
    VerdictReply,
    render_form,
    reply_schema,
)
from scoring.judges.replies import MalformedReply, choice_probability, lower_confidence, parse_reply
from scoring.values.opinion import Label
from tests.unit.judges.judges_support import FALSE, TRUE, judge, reply

GOOD = json.dumps(TRUE["Verdict"])
FORMS = list(dict.fromkeys(prompt.form for method in METHODS.values() for prompt in method.prompts))


@pytest.mark.parametrize("text", [GOOD, f" {GOOD}\n", f"```json\n{GOOD}\n```", f"```\n{GOOD}\n```"])
def test_one_object_is_read_alone_or_in_one_fence(text):
    assert parse_reply(text, VerdictReply).label is Label.TRUE


def test_reasoning_in_front_of_a_reply_is_left_out_and_nothing_else_is():
    assert parse_reply(f"<think>\nFALSE?\n</think>\n\n{GOOD}", VerdictReply).label is Label.TRUE
    for text in (f"{GOOD}<think></think>", f"<think>{GOOD}", f"<think></think><think></think>{GOOD}"):
        with pytest.raises(MalformedReply):
            parse_reply(text, VerdictReply)


@pytest.mark.parametrize(
    "text",
    [
        f"Here it is: {GOOD}",
        f"{GOOD}{GOOD}",
        f"{GOOD}\n{GOOD}",
        f"```json\n{GOOD}\n```\nand more",
        f"[{GOOD}]",
        GOOD.replace('"TRUE"', '"true"'),
        GOOD.replace('"TRUE"', '"NOT GIVEN"'),
        GOOD.replace('"TRUE"', "true"),
        GOOD.replace('"label"', '"Label"'),
        GOOD.replace('{"label"', '{"label": "FALSE", "label"'),
        GOOD.replace("0.9", '"0.9"'),
        GOOD.replace("0.9", "1.1"),
        GOOD.replace("0.9", "-0.1"),
        GOOD.replace("0.9", "NaN"),
        GOOD.replace("0.9", "true"),
        GOOD.replace("0.9", "1e999"),
        GOOD.replace("0.9", "9" * 5_000),
        GOOD.replace("5", "0"),
        GOOD.replace("[]", "null"),
        GOOD.replace("[]", '[{"words": "\\ud800", "kind": "number"}]'),
        GOOD.replace("[]", '[{"words": "a", "kind": "typo"}]'),
        GOOD.replace("[]", json.dumps([{"words": "a", "kind": "number"}] * 65)),
        GOOD[:-1] + ', "why": ""}',
        GOOD + " " * 10 + "x",
        "{" + " " * 300_000 + GOOD[1:],
        "[" * 100_000,
        "\ud800",
    ],
)
def test_everything_else_is_malformed(text):
    with pytest.raises(MalformedReply):
        parse_reply(text, VerdictReply)


def test_a_problem_names_known_fields_and_no_word_of_the_reply():
    with pytest.raises(MalformedReply) as caught:
        parse_reply('{"label": "SECRET", "SECRET": 1, "wrong": [{"words": 1, "SECRET": 2}]}', VerdictReply)
    assert "SECRET" not in str(caught.value)
    assert "label: enum" in str(caught.value)
    assert "wrong.0.words" in str(caught.value)


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
def test_a_schema_takes_the_replies_of_its_form_and_needs_no_more_than_any_endpoint_has(form):
    schema = reply_schema(form).content
    for content in (TRUE[reply_schema(form).name], FALSE[reply_schema(form).name]):
        assert form.model_validate_json(json.dumps(content))
        assert set(content) == set(schema["properties"]) == set(schema["required"])
    text = reply_schema(form).text
    for unknown in ("$ref", "$defs", "maximum", "maxLength", "minItems", "title", "default", "allOf"):
        assert f'"{unknown}"' not in text
    assert text.count('"object"') == text.count('"additionalProperties": false')


def test_a_form_is_described_to_the_model_field_by_field():
    told = render_form(VerdictReply)
    assert '"label": <"TRUE" or "FALSE" or "NOT_GIVEN">' in told
    assert "from 1 to 5" in told
    assert "or null: the kind of mistake" in render_form(SupportsReply)


def test_a_decision_is_written_before_its_score_and_after_its_reasons():
    assert list(ChainReply.model_fields) == ["steps", "explanation", "label", "confidence", "score", "wrong"]
    assert list(EvaluationReply.model_fields) == ["consistent", "relevant", "confidence", "score", "wrong"]


def tokens(*parts):
    return tuple(
        Token(text, math.log(p), tuple((t, math.log(q)) for t, q in others)) for text, p, others in parts
    )


REST = '", "confidence": 0.9, "score": 5, "wrong": []}'


@pytest.mark.parametrize(
    "logprobs",
    [
        tokens(
            ('{"label": "', 1, []), ("TR", 0.6, [("F", 0.2), ("N", 0.1), ("x", 0.1)]), ("UE" + REST, 1, [])
        ),
        tokens(('{"label":', 1, []), (' "TRUE', 0.6, [(' "FALSE', 0.2), (' "NOT', 0.1)]), (REST, 1, [])),
    ],
)
def test_the_probability_of_a_label_is_its_share_among_the_labels(logprobs):
    text = "".join(token.text for token in logprobs)
    said = Reply(text, logprobs=logprobs)
    assert choice_probability(said, "label", tuple(Label)) == pytest.approx(0.6 / 0.9)


@pytest.mark.parametrize(
    "said",
    [
        Reply(GOOD),
        Reply(GOOD, logprobs=tokens(("other", 1, []))),
        Reply('{"x": 1}', logprobs=tokens(('{"x": 1}', 1, []))),
        Reply('{"label": "', logprobs=tokens(('{"label": "', 1, []))),
        Reply('{"label": "x"}', logprobs=tokens(('{"label": "', 1, []), ('x"}', 1, []))),
    ],
)
def test_without_tokens_that_fit_there_is_no_probability(said):
    assert choice_probability(said, "label", tuple(Label)) is None


def test_an_opinion_is_as_sure_as_the_lower_of_both():
    logprobs = tokens(('{"label": "', 1, []), ("TRUE", 0.5, [("FALSE", 0.5)]), (REST, 1, []))
    said = reply("".join(token.text for token in logprobs), logprobs=logprobs)
    opinion, endpoint = judge("single", {"Verdict": said})
    assert opinion.confidence == pytest.approx(0.5)
    assert endpoint.requests[0].logprobs
    assert lower_confidence(0.4, 0.5) == 0.4
    assert lower_confidence(0.4, None) == 0.4


def test_either_dimension_of_io_may_lower_its_confidence():
    logprobs = tokens(
        ('{"consistent": ', 1, []),
        ("true", 1, []),
        (', "relevant": ', 1, []),
        ("true", 0.7, [("false", 0.3)]),
        (', "confidence": 0.9, "score": 5, "wrong": []}', 1, []),
    )
    said = reply("".join(token.text for token in logprobs), logprobs=logprobs)
    assert judge("io", {"Evaluation": said})[0].confidence == pytest.approx(0.7)
