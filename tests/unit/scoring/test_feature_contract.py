"""Every feature of every profile keeps what the protocol promises."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scoring_support import material

from scoring.profile import profiles

FEATURES = {feature.name: feature for profile in profiles() for feature in profile.features}
EACH_FEATURE = pytest.mark.parametrize("feature", FEATURES.values(), ids=FEATURES.keys())
LONG = 100_000
PIECES = [
    "*", "**", "**A", "**A**", "/", " / ", "A / ", " > ", "1", "1.", "1. ", "\n1. a\n2. b", "\nStep 1: x",
    "'", '"', "“", "‘", "`", "_", "<b>A", "a.", "click Ab ", "the Ab button ", " ", "\n", "\t", "é", "ß", "İ",
    "because ", "hi, ", "\u200b", "😀", "\x00",
]  # fmt: skip
MARKED_TEXT = st.lists(st.sampled_from([*PIECES, "Save", "save", " the ", "not ", "5", ". ", ": "])).map(
    "".join
)


def check(feature, texts):
    value = feature.measure(texts)
    assert value == feature.measure(texts)
    assert value.name == feature.name
    assert value.value is None or 0 <= value.value <= 1
    answer = texts.answer.original
    for evidence in value.evidence:
        assert 0 <= evidence.start < evidence.end <= len(answer)
        assert answer[evidence.start : evidence.end] == evidence.text
        assert evidence.document_id in {None, *(document.document_id for document in texts.context)}


@EACH_FEATURE
@given(answer=MARKED_TEXT, context=st.lists(MARKED_TEXT, max_size=3), question=MARKED_TEXT)
def test_a_value_is_in_range_repeatable_and_its_evidence_lies_in_the_answer(
    feature, answer, context, question
):
    check(feature, material(answer, context, question))


@EACH_FEATURE
@given(answer=st.text(), context=st.lists(st.text(), max_size=2), question=st.text())
def test_any_text_at_all_can_be_measured(feature, answer, context, question):
    check(feature, material(answer, context, question, "nl"))


@EACH_FEATURE
def test_empty_texts_are_defined_and_not_applicable(feature):
    assert feature.measure(material("", (), "")).value is None
    check(feature, material("", [""], ""))


@EACH_FEATURE
@pytest.mark.parametrize("piece", PIECES)
def test_a_long_hostile_answer_is_measured_in_linear_time(feature, piece):
    texts = material((piece * LONG)[:LONG], ["Click **Save**.\n\n1. Open **HR**.\n2. Click **Save**."])
    began = time.process_time()
    check(feature, texts)
    # A search that goes back over such a text takes minutes; a linear one a tenth of this bound.
    assert time.process_time() - began < 5


@EACH_FEATURE
def test_many_different_names_and_steps_against_a_long_context_stay_cheap(feature):
    names = "".join(f"{n % 98 + 1}. Click **Name {n}a** / B\n" for n in range(4_000))
    began = time.process_time()
    check(feature, material(names, [names[::-1], names]))
    assert time.process_time() - began < 10
