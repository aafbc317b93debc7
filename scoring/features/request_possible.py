"""Requests that cannot be met (paper, IV-C.2 and Table II, "Off-Context" and "Answer Contradiction")."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from scoring.claims.alignment import FEWEST_WORDS, Asked
from scoring.claims.known import Known, known
from scoring.claims.question import Question, alike, content_words, question_of, replies
from scoring.claims.reading import Claim, content_of, sentences
from scoring.claims.verdict import verdict
from scoring.lexicon import Lexicon
from scoring.text.material import Material
from scoring.text.prepared import PreparedText
from scoring.text.spans import span_evidence
from scoring.values.rules import Rule, Severity
from scoring.values.types import FeatureValue

DENIED_REQUEST = "denied_request"

# It also takes one for untrue that says in other words that it cannot be done.
DENIED = Rule(
    "denied_request",
    "The answer explains what a document says cannot be done, and does not say so.",
    Severity.HOLDS,
)

# What the question must have of the denial.
_ASKED = 0.7
# What an answer that offers the document's alternative has of it.
_OFFERED = 0.5


class RequestPossible:
    """Whether the answer explains how to do what a document says cannot be done.

    Heuristics: off-context and answer contradiction. Documents deny in a sentence with a negation beside
    a word such as "possible" or "supported". What is denied was asked for where that sentence, less a
    clause that begins with "but", consists to 70% of words of the question and has half of those that the
    documents know, by weight; not where it has a condition or a number that the question has not. The
    answer must then say so: with a "no", a negation, an "only" or a word such as "impossible", or with half
    of what that sentence or the next one offers instead ("but you can archive it"), by weight. The value is
    0 where it does not and 1 where it does: in [0, 1]. Not applicable where no document denies what was
    asked, the question itself denies something, or the answer says nothing.

    Evidence: ``denied_request``, the answer's first sentence, with the document that denies.

    Measured on the headings of 134 documents as questions, with the steps below them as answers, their
    negations taken out: 1 of 286 was taken for denied, before limits and alternatives were read. Of 165 true
    answers that an independent reviewer wrote to be hard, 7 were, and now 4, which say in other words who
    does it instead: so the policy holds such an answer and does not block it.

    >>> from scoring.text.material import ContextText
    >>> from scoring.lexicon import load_shipped
    >>> def text(words): return PreparedText.of(words, load_shipped()["en"])
    >>> document = ContextText("d", text("Rejecting several requests at once is not possible."))
    >>> texts = text("How do I reject several requests at once?"), text("Tick them and click Reject.")
    >>> RequestPossible().measure(Material(*texts, (document,))).value
    0.0
    """

    name = "request_possible"
    on_translation = False
    evidence = ((DENIED_REQUEST, DENIED),)

    def measure(self, material: Material) -> FeatureValue:
        """Return 0 where the answer does not mention that what was asked is denied."""
        said = material.answer.derived(sentences)
        denials = list(_denials(material)) if said else []
        if not denials:
            return FeatureValue(self.name, None)
        if _restricts(material.answer) or any(_offers(material.answer, denial) for denial in denials):
            return FeatureValue(self.name, 1.0)
        evidence = span_evidence(DENIED_REQUEST, material.answer, [said[0].span], denials[0].document_id)
        return FeatureValue(self.name, 0.0, evidence)


class _Denial(NamedTuple):
    asked: Asked
    document: Known
    document_id: str


def _restricts(answer: PreparedText) -> bool:
    said, denials = answer.derived(verdict), answer.lexicon.claims.denials
    claims = (claim for sentence in answer.derived(sentences) for claim in sentence.claims)
    return (said is not None and not said.is_yes) or any(
        claim.negative or claim.restricted_to is not None or not denials.isdisjoint(claim.words)
        for claim in claims
    )


def _offers(answer: PreparedText, denial: _Denial) -> bool:
    """Say whether an answer speaks of what the document offers instead of what it denies."""
    said = alike(answer.derived(content_words), denial.document)
    for offered in _alternatives(denial):
        if offered and denial.document.weights(offered & said) >= _OFFERED * denial.document.weights(offered):
            return True
    return False


def _alternatives(denial: _Denial) -> Iterator[frozenset[str]]:
    sentence, known_sentences = denial.asked.sentence, denial.document.sentences
    yield content_of(claim for claim in sentence.claims if not claim.negative) - denial.asked.shared
    following = known_sentences.index(sentence) + 1
    if following < len(known_sentences):
        yield known_sentences[following].content - denial.asked.shared - sentence.content


def _denials(material: Material) -> Iterator[_Denial]:
    """Yield the sentences that deny what was asked."""
    question = material.question.derived(question_of)
    if question is None:
        return
    documents = [(document.document_id, document.text.derived(known)) for document in material.context]
    words = frozenset(word for word in question.words if any(found.like(word) for _, found in documents))
    for document_id, document in documents:
        for asked in replies(words, document):
            if _denies(asked, question, document, material.answer.lexicon):
                yield _Denial(asked, document, document_id)


def _denies(asked: Asked, question: Question, document: Known, lexicon: Lexicon) -> bool:
    claims = asked.sentence.claims
    if not asked.is_reply or not _restrictions(claims, lexicon) <= _words(question.claims):
        return False
    if not any(claim.denies_possibility(lexicon) for claim in claims):
        return False
    content = content_of(claim for claim in claims if claim.negative or not claim.corrects)
    shared = content & asked.shared
    return len(shared) >= FEWEST_WORDS and document.weights(shared) >= _ASKED * document.weights(content)


def _words(claims: Iterable[Claim]) -> frozenset[str]:
    return frozenset[str]().union(*(claim.words for claim in claims))


def _restrictions(claims: Iterable[Claim], lexicon: Lexicon) -> frozenset[str]:
    """Return the conditions and numbers of a sentence: it denies these cases only."""
    words = _words(claims)
    return words & lexicon.claims.conditions | {word for word in words if any(map(str.isdigit, word))}
