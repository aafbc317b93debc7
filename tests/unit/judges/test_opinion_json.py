"""The JSON form of an opinion: whole and without a text, or refused."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from scoring.judges.opinion_json import OpinionForm, OpinionUnreadable, read_opinion, write_opinion
from scoring.values.exchange import Evidence
from scoring.values.opinion import Label, Mistake, Opinion, UnsureReason, Usage
from tests.support.opinions import ANSWER, OPINION

UNIT = st.floats(0, 1)
TEXT = st.text(max_size=20)


@st.composite
def evidence(draw):
    start = draw(st.integers(0, len(ANSWER) - 1))
    end = draw(st.integers(start + 1, len(ANSWER)))
    return Evidence(draw(st.sampled_from(Mistake)).value, ANSWER[start:end], start, end)


@st.composite
def opinions(draw):
    label = draw(st.none() | st.sampled_from(Label))
    return Opinion(
        method=draw(TEXT),
        models=tuple(draw(st.lists(TEXT, max_size=3))),
        prompt_version=draw(TEXT),
        label=label,
        confidence=draw(UNIT) if label else 0.0,
        score=draw(st.none() | st.floats(1, 5)) if label else None,
        consistency=draw(st.none() | UNIT),
        relevance=draw(st.none() | UNIT),
        wrong=tuple(draw(st.lists(evidence(), max_size=4))),
        mistakes=tuple(draw(st.lists(st.sampled_from(Mistake), max_size=4))),
        unsure=None if label else draw(st.sampled_from(UnsureReason)),
        shortened=draw(st.booleans()),
        usage=Usage(
            *draw(st.tuples(*[st.integers(0, 10**9)] * 3)), draw(st.floats(0, 1e6, allow_subnormal=False))
        ),
    )


FIELDS = json.loads(write_opinion(OPINION))


@given(opinions())
def test_an_opinion_comes_back_as_it_was(opinion):
    assert read_opinion(write_opinion(opinion), ANSWER) == opinion


def test_no_word_of_the_answer_stands_in_it():
    assert "days" not in write_opinion(OPINION)
    assert FIELDS["wrong"] == [{"start": 59, "end": 66, "kind": "number"}]


@pytest.mark.parametrize(
    "changed",
    [
        *({name: None} for name in FIELDS if name not in ("score", "consistency", "relevance", "unsure")),
        {"version": 2},
        {"version": "1"},
        {"more": 1},
        {"confidence": 1.1},
        {"confidence": "0.9"},
        {"score": 6},
        {"label": "true"},
        {"label": None},
        {"unsure": "no_reply"},
        {"shortened": 0},
        {"usage": {"requests": -1, "tokens_in": 0, "tokens_out": 0, "seconds": 0}},
        {"wrong": [{"start": 60, "end": 68, "kind": "number"}]},
        {"wrong": [{"start": 3, "end": 3, "kind": "number"}]},
        {"wrong": [{"start": -3, "end": 3, "kind": "number"}]},
        {"wrong": [{"start": 0, "end": 3, "kind": "other"}]},
    ],
)
def test_what_is_of_another_form_is_refused(changed):
    with pytest.raises(OpinionUnreadable):
        read_opinion(json.dumps(FIELDS | changed), ANSWER)


@pytest.mark.parametrize("name", FIELDS)
def test_what_lacks_a_field_is_refused(name):
    with pytest.raises(OpinionUnreadable):
        read_opinion(json.dumps({key: value for key, value in FIELDS.items() if key != name}), ANSWER)


@pytest.mark.parametrize("text", ["", "null", "[]", "{", b"\xff", '{"version": 1}', "[" * 9_999])
def test_what_is_no_opinion_is_refused(text):
    with pytest.raises(OpinionUnreadable):
        read_opinion(text, ANSWER)


def test_the_words_are_not_quoted_when_it_is_refused():
    with pytest.raises(OpinionUnreadable) as refused:
        read_opinion(json.dumps(FIELDS | {"method": {"secret": "words"}}), ANSWER)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    "opinion",
    [
        Opinion("single", (), "v1", Label.TRUE, 1.0, wrong=(Evidence("another", "Open", 0, 4),)),
        Opinion("single", (), "v1", Label.TRUE, 1.0, consistency=float("nan")),
        Opinion("\ud800", (), "v1", Label.TRUE, 1.0),
    ],
)
def test_what_could_not_be_read_back_is_not_written(opinion):
    with pytest.raises(ValueError):  # noqa: PT011 - of several kinds
        write_opinion(opinion)


def test_it_may_be_a_field_of_a_line_of_a_file():
    class Line(BaseModel):
        custom_id: str
        opinion: OpinionForm

    line = Line(custom_id="a-1", opinion=OpinionForm.of(OPINION))
    assert Line.model_validate_json(line.model_dump_json()).opinion.opinion(ANSWER) == OPINION
