"""The drivers, the keys, the examples, the prompts and the values of the judges."""

import asyncio
import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from importlib.resources import files
from string import Template

import pytest

from scoring.judges import (
    METHODS,
    Case,
    Example,
    ExamplesError,
    JudgeOptions,
    ReferenceAnswer,
    ReferenceDocuments,
    Request,
    advance,
    ask,
    drive,
    drive_async,
    opinion_key,
    prompt_version,
    read_examples,
)
from scoring.judges.case import MAX_EXAMPLES
from scoring.judges.prompts import text
from scoring.values.exchange import Exchange, Passage
from scoring.values.opinion import Label, Opinion, UnsureReason
from tests.unit.judges.judges_support import CASES, DOCUMENTS, EXPECTED, FALSE, TRUE, Endpoint, judge

MODELS = {"judge": "vendor/model-1"}
EXAMPLE = {"question": "q", "reference": "r", "answer": "a@b.nl", "label": "FALSE", "score": 2, "why": "w"}


@pytest.mark.parametrize("method", METHODS)
async def test_an_event_loop_gets_the_same_opinion(method):
    endpoint = Endpoint(FALSE)

    async def answer_all(requests):
        await asyncio.sleep(0)
        return endpoint(requests)

    opinion = await drive_async(ask(DOCUMENTS, method, JudgeOptions()), answer_all)
    assert opinion == judge(method, FALSE)[0]


@pytest.mark.parametrize("kind", CASES)
@pytest.mark.parametrize("method", METHODS)
def test_a_file_of_replies_gets_the_same_opinion_round_by_round(method, kind):
    endpoint, known = Endpoint(FALSE), {}
    while not isinstance(step := advance(ask(CASES[kind], method, JudgeOptions()), known), Opinion):
        assert all(isinstance(request, Request) for request in step)
        known |= dict(zip((request.key for request in step), endpoint(step), strict=True))
    assert step == judge(method, FALSE, CASES[kind])[0]
    assert len(endpoint.requests) == len(known)


def test_of_a_round_that_came_half_the_other_half_is_asked_again():
    case, options = DOCUMENTS, JudgeOptions(samples=3)
    first = advance(ask(case, "cot-sc", options), {})
    (outcome,) = Endpoint(TRUE)(first[:1])
    assert advance(ask(case, "cot-sc", options), {first[0].key: outcome}) == first[1:]


def test_two_requests_that_are_the_same_are_asked_in_a_file_once():
    fact = TRUE["Statements"]["statements"][0]
    script = TRUE | {"Statements": {"statements": [fact, fact], "confidence": 1}}
    endpoint, known = Endpoint(script), {}
    for _ in range(2):
        step = advance(ask(DOCUMENTS, "factscore", JudgeOptions()), known)
        known |= dict(zip((request.key for request in step), endpoint(step), strict=True))
    assert [len(requests) for requests in endpoint.rounds] == [1, 1]
    assert advance(ask(DOCUMENTS, "factscore", JudgeOptions()), known).label is Label.TRUE


def test_another_number_of_outcomes_than_of_requests_is_a_fault_of_the_caller():
    with pytest.raises(ValueError, match="zip"):
        drive(ask(DOCUMENTS, "single", JudgeOptions()), lambda _: [])


def test_requests_and_keys_are_the_same_in_another_process():
    code = (
        "from tests.unit.judges.judges_support import *\n"
        "from tests.unit.judges.test_judges_asking import fingerprint\n"
        "print(fingerprint())"
    )
    seeded = os.environ | {"PYTHONHASHSEED": "1", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, text=True, env=seeded
    )
    assert done.stdout.strip() == fingerprint()


def fingerprint():
    long = ReferenceDocuments(tuple(Passage(str(n), f"One {n}.\n\nTwo {n}.\n\nThree.") for n in range(40)))
    case = Case("One two?", "Three of one.", long)
    keys = [r.key for m in METHODS for r in judge(m, FALSE, case, max_characters=200)[1].requests]
    return json.dumps([*keys, opinion_key(case, "single", JudgeOptions(), MODELS)])


def key(case=DOCUMENTS, method="single", options=JudgeOptions(), models=MODELS):  # noqa: B008 - frozen
    return opinion_key(case, method, options, models)


def test_whatever_goes_in_makes_another_key():
    (passage,) = DOCUMENTS.reference.passages
    others = [
        key(replace(DOCUMENTS, question="q")),
        key(replace(DOCUMENTS, answer="a")),
        key(EXPECTED),
        key(replace(DOCUMENTS, reference=ReferenceAnswer(passage.text_with_title))),
        *(
            key(replace(DOCUMENTS, reference=ReferenceDocuments((replace(passage, **change),))))
            for change in ({"text": "t"}, {"title": "t"}, {"version": "v2"}, {"document_id": "d"})
        ),
        key(replace(DOCUMENTS, reference=ReferenceDocuments((passage, passage)))),
        *(key(method=method) for method in METHODS if method != "single"),
        key(options=JudgeOptions(mask=False)),
        key(options=JudgeOptions(steps=4)),
        key(options=JudgeOptions(temperature=0.1)),
        key(options=JudgeOptions(examples=(Example(**EXAMPLE),))),
        key(models={"judge": "vendor/model-2"}),
    ]
    assert len({key(), *others}) == 1 + len(others)
    assert key() == key(models=MODELS | {"unused": "x"})


def test_the_key_of_a_judge_without_a_model_is_refused():
    with pytest.raises(KeyError):
        key(models={})


def test_a_score_of_retrieval_makes_no_other_key():
    (passage,) = DOCUMENTS.reference.passages
    assert key(replace(DOCUMENTS, reference=ReferenceDocuments((replace(passage, score=0.5),)))) == key()


def test_half_a_character_has_a_key_too():
    assert key(replace(DOCUMENTS, answer="\ud800")) != key(replace(DOCUMENTS, answer="\ufffd"))


def test_examples_are_read_line_by_line():
    read = read_examples([json.dumps(EXAMPLE), "", json.dumps(EXAMPLE | {"why": ""})])
    assert [each.label for each in read] == [Label.FALSE] * 2


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["", "no"], "line 2: the line: Invalid JSON"),
        ([json.dumps(EXAMPLE | {"score": 6})], "line 1: score: "),
        ([json.dumps(EXAMPLE | {"label": "SECRET"})], "line 1: label: "),
        ([json.dumps(EXAMPLE | {"rating": 1})], "line 1: rating: "),
        ([json.dumps({})], "line 1: question: "),
        ([json.dumps(EXAMPLE)] * (MAX_EXAMPLES + 1), "17 examples are more than 16"),
    ],
)
def test_what_is_no_example_is_refused_with_its_line_and_field(lines, message):
    with pytest.raises(ExamplesError) as caught:
        read_examples(lines)
    assert str(caught.value).startswith(message)
    assert "SECRET" not in str(caught.value)


def test_examples_are_data_too_fenced_and_masked():
    opinion, endpoint = judge("sequential", TRUE, examples=(Example(**EXAMPLE),))
    assert opinion.label is Label.TRUE
    for request in endpoint.requests:
        system, user = request.messages
        assert "[examples " in user.content
        assert '"answer": "[EMAIL-1]"' in user.content
        assert "the part `examples` holds" in system.content.lower()
    assert "`examples`" not in judge("sequential", TRUE)[1].requests[0].messages[0].content


def test_masking_is_on_unless_it_is_switched_off():
    case = replace(DOCUMENTS, answer="Mail jan@example.org within 30 days.")
    assert "jan@example.org" not in judge("single", TRUE, case)[1].requests[0].messages[1].content
    assert "jan@example.org" in judge("single", TRUE, case, mask=False)[1].requests[0].messages[1].content


def test_wrong_words_that_were_masked_are_those_of_the_answer():
    case = replace(DOCUMENTS, answer="Mail jan@example.org today.")
    wrong = [{"words": "mail [EMAIL-1]", "kind": "entity"}]
    (found,) = judge("single", {"Verdict": FALSE["Verdict"] | {"wrong": wrong}}, case)[0].wrong
    assert (found.text, found.start, found.end) == ("Mail jan@example.org", 0, 20)


def test_every_prompt_file_is_of_a_method_and_every_method_has_its_version(monkeypatch):
    names = {file.name.removesuffix(".md") for file in files("scoring.judges.prompts").iterdir()}
    used = {"rules", "reference_documents", "reference_expected", "scale", "mistakes"}
    used |= {"examples", "closing", "repair"}
    for method in METHODS.values():
        for prompt in method.prompts:
            used |= {prompt.name, *prompt.extras}
    assert {name for name in names if not name.startswith("__")} == used
    before = {method: prompt_version(method) for method in METHODS}
    monkeypatch.setattr(
        "scoring.judges.prompts.text", lambda name: text(name) + " " * (name == "persona_editor")
    )
    changed = {method for method in METHODS if prompt_version(method) != before[method]}
    assert changed == {"personas"}


def test_a_prompt_holds_no_sign_of_a_template_that_was_not_filled():
    for method in METHODS:
        for request in judge(method, FALSE)[1].requests:
            assert not Template(request.messages[0].content).get_identifiers()


def test_the_readme_says_of_every_method_where_it_comes_from_and_what_its_confidence_means():
    readme = (files("scoring.judges") / "README.md").read_text("utf-8")
    for name, method in METHODS.items():
        assert name == method.name
        assert re.search(rf"^\| `{name}` \| 00\d, .+ \| .+ \| .+ \|$", readme, re.MULTILINE)


@pytest.mark.parametrize(
    "wrong",
    [
        {"steps": 0},
        {"samples": 0},
        {"judges": ()},
        {"temperature": -0.1},
        {"max_characters": 0},
        {"rounds": 0},
        {"max_tokens": 0},
    ],
)
def test_options_with_which_nothing_could_be_asked_are_refused(wrong):
    with pytest.raises(ValueError, match="at least"):
        JudgeOptions(**wrong)


@pytest.mark.parametrize(
    "wrong",
    [
        {"label": None},
        {"unsure": UnsureReason.EMPTY},
        {"label": None, "unsure": UnsureReason.EMPTY, "confidence": 0.1},
        {"label": None, "unsure": UnsureReason.EMPTY, "confidence": 0, "score": 1.0},
        {"confidence": 1.1},
        {"score": 0.5},
        {"confidence": float("nan")},
    ],
)
def test_an_opinion_that_contradicts_itself_cannot_be_made(wrong):
    given = {"label": Label.TRUE, "confidence": 0.5, "score": 4.0} | wrong
    with pytest.raises(ValueError, match=r"label|from"):
        Opinion("single", ("m",), "v", **given)


def test_the_case_of_an_exchange_is_judged_by_its_documents():
    passages = (Passage("d", "t"),)
    assert Case.of(Exchange("q", "a", passages)) == Case("q", "a", ReferenceDocuments(passages))
