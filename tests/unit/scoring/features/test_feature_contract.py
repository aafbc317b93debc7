"""Every feature of every profile keeps what the protocol promises; new ones are found by themselves."""

import doctest
import inspect
import re
import sys
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring.scorer.profile import profiles
from tests.unit.scoring.scoring_support import LEXICONS, material, prepared

FEATURES = {feature.name: feature for profile in profiles() for feature in profile.features}
EACH_FEATURE = pytest.mark.parametrize("feature", FEATURES.values(), ids=FEATURES.keys())
# Those that parse take spaCy's time, which is not theirs.
PARSING = {
    "hal", "subject_combination", "verbatim_guide", "claims_covered", "phrases_known", "refusal_justified",
    "figures_follow", "values_agree", "numbers_known", "action_claimed", "courtesy",
}  # fmt: skip
WORD_FEATURES = [feature for name, feature in FEATURES.items() if name not in PARSING]
LONG = 100_000
PIECES = [
    "*", "**", "**A", "**A**", "/", " / ", "A / ", " > ", "1", "1.", "1. ", "\n1. a\n2. b", "\nStep 1: x",
    "'", '"', "“", "‘", "`", "_", "<b>A", "a.", "click Ab ", "the Ab button ", " ", "\n", "\t", "é", "ß", "İ",
    "because ", "hi, ", "\u200b", "😀", "\x00", "K-1014 ", "error 404 ", "- 404: a b\n", "\u202e",
    "e\u0301", "ﬁ",
]  # fmt: skip
MARKED_TEXT = st.lists(st.sampled_from([*PIECES, "Save", "save", " the ", "not ", "5", ". ", ": "])).map(
    "".join
)
# Lone surrogates cannot come out of a record, which is UTF-8; everything else can.
ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"]))
# The parser takes milliseconds a text, which is no fault of a feature.
unhurried = settings(deadline=None, max_examples=50)


def check(feature, texts):
    value = feature.measure(texts)
    assert value == feature.measure(texts)
    assert value.name == feature.name
    assert value.value is None or 0 <= value.value <= 1
    answer = texts.answer.original
    for evidence in value.evidence:
        assert evidence.kind in dict(feature.evidence_rules)
        assert 0 <= evidence.start < evidence.end <= len(answer)
        assert answer[evidence.start : evidence.end] == evidence.text
        assert evidence.document_id in {None, *(document.document_id for document in texts.context)}
    return value


@EACH_FEATURE
@unhurried
@given(answer=MARKED_TEXT, context=st.lists(MARKED_TEXT, max_size=3), question=MARKED_TEXT)
def test_a_value_is_in_range_repeatable_and_its_evidence_lies_in_the_answer(
    feature, answer, context, question
):
    check(feature, material(answer, context, question))


@EACH_FEATURE
@unhurried
@given(answer=ANY_TEXT, context=st.lists(ANY_TEXT, max_size=2), question=ANY_TEXT)
def test_any_text_at_all_can_be_measured(feature, answer, context, question):
    check(feature, material(answer, context, question, "nl"))


@EACH_FEATURE
@pytest.mark.parametrize("language", sorted(LEXICONS))
def test_empty_texts_are_defined_and_not_applicable(feature, language):
    assert check(feature, material("", (), "", language)).value is None
    assert check(feature, material("", [""], "", language)).value is None
    assert check(feature, material(" \n", [" "], "?", language)).value is None


@EACH_FEATURE
def test_an_answer_is_measured_without_question_and_context(feature):
    check(feature, material("1. Click **Save**.\n2. The manager approves it, because it ends.", (), ""))


@EACH_FEATURE
def test_two_features_of_a_kind_measure_the_same(feature):
    texts = ("Click **Undo**, because K-1014 ends.", ["- K-1014: it ends.\n- K-1015: it opens."], "K-1014?")
    assert type(feature)().measure(material(*texts)) == feature.measure(material(*texts))


@pytest.mark.parametrize("feature", WORD_FEATURES, ids=lambda feature: feature.name)
@pytest.mark.parametrize("piece", PIECES)
def test_a_long_hostile_answer_is_measured_in_linear_time(feature, piece):
    texts = material((piece * LONG)[:LONG], ["Click **Save**.\n\n1. Open **HR**.\n2. Click **Save**."])
    began = time.process_time()
    check(feature, texts)
    # A search that goes back over such a text takes minutes; a linear one a tenth of this bound.
    assert time.process_time() - began < 5


@EACH_FEATURE
@pytest.mark.parametrize(
    "piece", ["The manager approves 5 of 7 leaves. ", "\n1. Click **Save**.\n2. Open it."]
)
def test_a_long_answer_in_words_is_measured(feature, piece):
    check(feature, material((piece * LONG)[:LONG], [piece]))


@EACH_FEATURE
def test_a_long_answer_of_everything_that_is_hostile_is_measured(feature):
    pieces = "".join(PIECES)
    check(feature, material((pieces * LONG)[:LONG], [pieces, "Click **Save**."], pieces))


@EACH_FEATURE
def test_many_different_names_and_steps_against_a_long_context_stay_cheap(feature):
    names = "".join(f"{n % 98 + 1}. Click **Name {n}a** / B\n" for n in range(4_000))
    texts = material(names, [names[::-1], names])
    check(feature, texts)  # parses, where it has to
    began = time.process_time()
    check(feature, texts)
    assert time.process_time() - began < 10


@pytest.mark.parametrize("feature", WORD_FEATURES, ids=lambda feature: feature.name)
@pytest.mark.parametrize("language", sorted(LEXICONS))
def test_a_feature_of_words_alone_never_parses(feature, language):
    prepared.cache_clear()  # other tests may have parsed the same texts
    texts = material("Click **Save**. K-1014 ends.", ["K-1014: the end. K-1015: not."], "K-1014?", language)
    feature.measure(texts)
    every_text = texts.answer, texts.question, *(document.text for document in texts.context)
    assert all(text.whole_parse.parse is None for text in every_text)


def test_names_are_stable_unique_and_in_snake_case():
    kinds = {(feature.name, type(feature)) for profile in profiles() for feature in profile.features}
    assert len({name for name, _ in kinds}) == len(kinds)
    assert all(re.fullmatch("[a-z]+(_[a-z]+)*", name) for name in FEATURES)
    # Verdicts carry these names: one that goes or changes breaks who reads them.
    assert set(FEATURES) >= {
        "company_terms", "components_defined", "complex_answer", "prompt_overlap", "hal",
        "subject_combination", "verbatim_guide", "error_mismatch", "claims_covered", "phrases_known",
        "refusal_justified", "numbers_known", "verbatim_document", "figures_follow",
        "action_claimed", "courtesy",
    }  # fmt: skip


def test_the_profile_of_the_paper_has_its_seven_features_its_rule_to_send_and_two_message_types():
    paper = next(profile for profile in profiles() if profile.name == "paper")
    assert sorted(feature.name for feature in paper.features) == [
        "company_terms", "complex_answer", "components_defined", "hal", "prompt_overlap",
        "subject_combination", "verbatim_document", "verbatim_guide",
    ]  # fmt: skip
    assert sorted(paper.message_types) == ["binary", "instruction"]


@EACH_FEATURE
def test_the_docstring_explains_the_heuristic_and_has_an_example_that_runs(feature):
    kind = type(feature)
    documentation = " ".join(inspect.getdoc(kind).split())
    module = sys.modules[kind.__module__]
    assert "(paper" in module.__doc__
    assert "not applicable" in documentation.lower()
    assert "[0, 1]" in documentation
    examples = doctest.DocTestFinder(recurse=False).find(
        kind, kind.__name__, module=module, globs=vars(module)
    )
    assert sum(len(example.examples) for example in examples) > 0
    runner = doctest.DocTestRunner(verbose=False)
    assert sum(runner.run(example, out=lambda _: None).failed for example in examples) == 0
