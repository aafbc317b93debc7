"""Which answers have one key: the same characters, documents and tenant, and nothing less."""

import unicodedata
from dataclasses import replace

import pytest
from hypothesis import given

from schemas import ChatbotAnswer
from scoring.values.exchange import Passage
from streams.known_answers.answer_key import answer_key
from tests.support.record_strategies import ANSWER, answers, texts

DOCUMENTS = (
    Passage("fac", "Open **Sales**.", "Invoices", version="1"),
    Passage("crm", "Click **New**.", version="2"),
)
KEY = answer_key(ANSWER, DOCUMENTS, None)


def of(tenant_key: str | None = "tenant", **fields: object) -> str:
    return answer_key(replace(ANSWER, **fields), DOCUMENTS, tenant_key)


def test_a_key_has_64_hexadecimal_digits_and_no_text():
    assert len(bytes.fromhex(KEY)) == 32


def test_only_who_asked_when_and_the_model_may_differ():
    other = {"answer_id": "b", "conversation_id": "c", "model": "m", "metadata": {"user": "1"}}
    assert answer_key(replace(ANSWER, **other), DOCUMENTS, None) == KEY


def test_composed_and_decomposed_characters_are_the_same():
    composed, decomposed = (unicodedata.normalize(form, "Eén café?") for form in ("NFC", "NFD"))
    assert composed != decomposed
    assert of(question=composed, answer=composed) == of(question=decomposed, answer=decomposed)


@pytest.mark.parametrize("name", ["question", "answer"])
@pytest.mark.parametrize(
    "change",
    [
        str.lower,
        lambda text: f"{text} ",
        lambda text: f"{text}\n",
        lambda text: f"{text[:3]}\u200b{text[3:]}",  # zero-width space
        lambda text: f"{text[:3]}\u00ad{text[3:]}",  # soft hyphen
        lambda text: f"\u202e{text}",  # right-to-left override
        lambda text: f"\u2066{text}\u2069",  # isolated
        lambda text: text.replace(" ", "\u00a0"),  # no-break space
        lambda text: text.replace("a", "\u0430"),  # Cyrillic
        lambda text: text.replace("c", "\uff43"),  # full width, which NFKC would fold
    ],
)
def test_whatever_else_differs_is_another_answer(name, change):
    text = getattr(ANSWER, name)
    assert change(text) != text
    assert of(**{name: change(text)}) != of()


def test_words_do_not_move_from_the_question_to_the_answer():
    assert of(question="ab", answer="c") != of(question="a", answer="bc")


def test_the_order_of_documents_and_a_repeated_one_do_not_matter():
    assert answer_key(ANSWER, (*reversed(DOCUMENTS), DOCUMENTS[0]), None) == KEY


@pytest.mark.parametrize(
    "documents",
    [
        (),
        DOCUMENTS[:1],
        (*DOCUMENTS, Passage("hr", "")),
        *((replace(DOCUMENTS[0], **change), DOCUMENTS[1]) for change in (
            {"text": "Open **Sales**!"}, {"title": None}, {"title": ""}, {"version": "3"}, {"version": None},
            {"document_id": "fac2"},
        )),
    ],
)  # fmt: skip
def test_other_documents_and_changed_ones_make_it_another_answer(documents):
    assert answer_key(ANSWER, documents, None) != KEY


def test_each_tenant_has_keys_of_its_own():
    mine, other = {"tenant": "a"}, {"tenant": "b"}
    keys = [of(metadata=mine), of(metadata=other), of(metadata={"tenant": ""}), of(metadata={})]
    keys += [of("shop", metadata=mine), of(None, metadata=mine)]
    assert len(set(keys)) == len(keys)
    assert of(None, metadata=mine) == of(None, metadata=other)


@given(answers, texts, texts)
def test_any_text_has_a_key_and_a_different_one_another(answer: ChatbotAnswer, question: str, text: str):
    same = unicodedata.normalize("NFC", question) == unicodedata.normalize("NFC", text)
    first, second = (replace(answer, question=each) for each in (question, text))
    assert (answer_key(first, DOCUMENTS, None) == answer_key(second, DOCUMENTS, None)) is same
