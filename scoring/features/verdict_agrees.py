"""A yes where the documents say no (paper, IV-C.2 and Table II, "Answer Contradiction")."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from scoring.claims.alignment import FEWEST_WORDS, Asked
from scoring.claims.known import known
from scoring.claims.quantities import Quantity, quantities
from scoring.claims.question import Question, alike, content_words, question_of, replies
from scoring.claims.reading import Claim, have_opposites
from scoring.claims.verdict import verdict
from scoring.features.contradicted import CONTRADICTED
from scoring.lexicon import Lexicon
from scoring.text.material import ContextText, Material
from scoring.text.spans import span_evidence
from scoring.values.types import FeatureValue

CONTRADICTED_VERDICT = "contradicted_verdict"

# What the question and a sentence that answers it have of each other on average.
_FITS = 0.55
# A sentence that says much more than was asked gives no plain answer.
_CLOSE = 0.6
# Beside the question's words those of the answer tell which of several sentences is meant.
_ANSWER_COUNTS = 0.3


class VerdictAgrees:
    """Whether the yes or no that the answer begins with is that of the documents.

    Heuristic: answer contradiction. What is true is told by the sentence that has most of the question's
    words and says little that neither question nor answer explains. It says no where its clause that is
    nearest to the question holds a negation or the opposite of a word of the question. "Only an
    administrator can" says no to who asks about another, and "above 15%" is turned round for who asks
    about 10%. A yes is contradicted by a no, also one under a condition where the sentence says little else.
    A no is contradicted only by a sentence that says yes without condition and little else, because a rule
    may have its exceptions elsewhere, and what is possible "within 24 hours" may ask for more than that. The
    value is 1 where they agree and 0 where the answer is contradicted: in [0, 1]. Not applicable where the
    answer begins with neither yes nor no, or with "yes, but not", the question denies something itself
    ("without", "forbidden") or has fewer than two words that the documents know, no sentence has half of
    these, or the one that has them does not tell.

    Evidence: ``contradicted_verdict``, the yes or no, with the document that says otherwise.

    Measured on the development answers: evidence in 3 of 26 untrue ones in Dutch, 4 in English, and in none
    of 44 true ones. Of 165 true answers that an independent reviewer wrote to be hard for it, it took 15
    for untrue, and after what they taught 4: what is true is worked out from several sentences or numbers.
    Of a third set's yes-or-no questions it answered hardly any: they share too few words with the documents.

    >>> from scoring.text.material import ContextText
    >>> from scoring.lexicon import load_shipped
    >>> from scoring.text.prepared import PreparedText
    >>> def text(words): return PreparedText.of(words, load_shipped()["en"])
    >>> document = ContextText("d", text("Invoices are sent by e-mail. A final invoice cannot be deleted."))
    >>> texts = text("Can I delete a final invoice?"), text("Yes, just click the bin.")
    >>> VerdictAgrees().measure(Material(*texts, (document,))).value
    0.0
    """

    name = "verdict_agrees"
    on_translation = False
    evidence = ((CONTRADICTED_VERDICT, CONTRADICTED),)

    def measure(self, material: Material) -> FeatureValue:
        """Return 1 where the verdict agrees with the documents, 0 where they contradict it."""
        said = material.answer.derived(verdict)
        reply = _reply(material) if said else None
        true = reply.is_yes(said.is_yes, material.answer.lexicon) if said and reply else None
        if said is None or reply is None or true is None:
            return FeatureValue(self.name, None)
        if true == said.is_yes:
            return FeatureValue(self.name, 1.0)
        span = said.start, said.end
        evidence = span_evidence(CONTRADICTED_VERDICT, material.answer, [span], reply.document.document_id)
        return FeatureValue(self.name, 0.0, evidence)


@dataclass(frozen=True, slots=True)
class _Reply:
    """The sentence of a document that answers a question.

    ``elsewhere``: words of the question that the documents know, but not from this sentence. ``said``: words
    of the document that the answer has too. ``counted``: the quantities of the question.
    """

    asked: Asked
    question: Question
    elsewhere: frozenset[str]
    said: frozenset[str]
    document: ContextText
    counted: tuple[Quantity, ...]

    def is_yes(self, said_yes: bool, lexicon: Lexicon) -> bool | None:
        """Return what it replies, None where that does not tell whether what was said is wrong."""
        clause = self._clause()
        denies = clause.negative != any(have_opposites(own, clause, lexicon) for own in self.question.claims)
        if not denies and (only := self._restriction()) is not None:
            excluded = bool(only and self.elsewhere and only.isdisjoint(self.said))
            return False if excluded or not said_yes else None
        within = self._within_limit()
        denies = denies != (within is False)
        is_plain = not self.asked.sentence.conditional or within is False
        if within:
            is_plain = is_plain or lexicon.claims.possibility.isdisjoint(clause.words)
        is_close = self.asked.asked >= _CLOSE
        if denies != said_yes:
            return not denies if is_close or is_plain else None
        decides = is_plain and (denies or is_close)
        return not denies if decides else None

    def _within_limit(self) -> bool | None:
        """Say whether what was asked about is within the sentence's limits; None where it has none for it."""
        start, end = self.asked.sentence.span
        limits = [found for found in self.document.text.derived(quantities) if start <= found.start < end]
        within = [limit.admits(asked) for limit in limits for asked in self.counted]
        known = [admitted for admitted in within if admitted is not None]
        return all(known) if known else None

    def _clause(self) -> Claim:
        """Return the clause nearest to the question: where some deny, the one that says least besides."""
        shared, claims = self.asked.shared, [claim for claim in self.asked.sentence.claims if claim.content]
        if len({claim.negative for claim in claims}) == 1:
            return max(claims, key=lambda claim: len(claim.content & shared))
        return max(claims, key=lambda claim: _nearness(claim, shared))

    def _restriction(self) -> frozenset[str] | None:
        restrictions = [claim.restricted_to for claim in self.asked.sentence.claims]
        stated = [words for words in restrictions if words is not None]
        return frozenset[str]().union(*stated) - self.asked.shared if stated else None


def _nearness(claim: Claim, shared: frozenset[str]) -> tuple[float, int]:
    common = len(claim.content & shared)
    return common / len(claim.content), common


def _reply(material: Material) -> _Reply | None:
    question = material.question.derived(question_of)
    if question is None:
        return None
    documents = [document.text.derived(known) for document in material.context]
    words = frozenset(word for word in question.words if any(found.like(word) for found in documents))
    if len(words) < FEWEST_WORDS:
        return None
    ranked = (
        found for document in material.context for found in _ranked(words, question, material, document)
    )
    best = max(ranked, key=lambda found: found[0], default=None)
    return best[1] if best and _fits(best[1].asked) else None


def _ranked(
    words: frozenset[str], question: Question, material: Material, document: ContextText
) -> Iterator[tuple[float, _Reply]]:
    found = document.text.derived(known)
    said = alike(material.answer.derived(content_words), found)
    counted = material.question.derived(quantities)
    for asked in replies(words, found):
        content = asked.sentence.content
        explained = found.weights(content & (asked.shared | said)) / found.weights(content)
        elsewhere = frozenset(word for word in words if found.like(word).isdisjoint(content))
        reply = _Reply(asked, question, elsewhere, said, document, counted)
        yield asked.answers + _ANSWER_COUNTS * explained, reply


def _fits(asked: Asked) -> bool:
    return asked.is_reply and (asked.answers + asked.asked) / 2 >= _FITS
