"""Statements that a document makes the other way round (paper, IV-C.2, "Answer Contradiction")."""

from __future__ import annotations

from itertools import islice
from typing import NamedTuple

from scoring.claims.alignment import FEWEST_WORDS, Aligned, aligned
from scoring.claims.known import known
from scoring.claims.reading import Claim, Sentence, opposed, sentences
from scoring.features.contradicted import CONTRADICTED
from scoring.lexicon import Lexicon
from scoring.text.material import Material
from scoring.text.prepared import PreparedText
from scoring.text.spans import span_evidence
from scoring.values.types import FeatureValue

CONTRADICTED_STATEMENT = "contradicted_statement"

#: Two clauses of this likeness speak of the same; below it more and more of them only sound alike.
SAME = 2 / 3
# What is nearly as like is heard too: documents say "can" of one case and "cannot" of another.
_NEARLY = 0.1
# No support answer says more; each statement is compared with every document.
_MOST_STATEMENTS = 200


class StatementsAgree:
    """Share of the answer's statements that say what the documents say, not the opposite.

    Heuristics: answer contradiction and non-appearing statements. Mistakes of chatbots turn a document's
    sentence round: "can" for "cannot", "mandatory" for "optional". A statement is a clause with a verb
    and two content words, in no heading and no step; it is compared where a clause of a document is at
    least 2/3 alike: the harmonic mean of the shares of either's content lemmas that the other has, rare
    ones counting more. It is contradicted where one of the two has a negation more, or a word and the
    other its opposite, and so for every clause nearly as like; what a negation belongs to must
    be in both. Two clauses of which only one has a condition, or only one an "only" or a "no more than 5",
    are not compared, nor is "others cannot", which leaves open what. The value is 1 - contradicted /
    compared, in [0, 1]; not applicable where nothing can be compared.

    Evidence: ``contradicted_statement``, each such clause, with a document that says the opposite.

    Measured on the sentences of 134 documents of two products in Dutch and English, each as an answer to
    the rest of its document, before the last three of these conditions were added: contradicted are none of
    625 and 644 of one product, 10 of 1,139 and 11 of 1,143 of the other. With a "not" taken out and against
    the whole document, 433 of 519 are found. On the development answers there is evidence in 2 of 26 untrue
    ones in either language, and in none of 44 true ones; of 165 true answers that an independent reviewer
    wrote to be hard, 4 were taken for untrue, and with these conditions 1. They cost 5 of 168 such sentences.

    >>> from scoring.text.material import ContextText
    >>> from scoring.lexicon import load_shipped
    >>> def text(words): return PreparedText.of(words, load_shipped()["en"])
    >>> document = ContextText("d", text("A draft can be deleted. A final invoice cannot be deleted."))
    >>> answer = text("A final invoice can be deleted.")
    >>> value = StatementsAgree().measure(Material(text(""), answer, (document,)))
    >>> value.value, [evidence.text for evidence in value.evidence]
    (0.0, ['A final invoice can be deleted'])
    """

    name = "statements_agree"
    on_translation = False
    evidence = ((CONTRADICTED_STATEMENT, CONTRADICTED),)

    def measure(self, material: Material) -> FeatureValue:
        """Return 1 - contradicted statements / compared statements."""
        found = [_compared(statement, material) for statement in material.answer.derived(statements)]
        compared = [result for result in found if result is not None]
        if not compared:
            return FeatureValue(self.name, None)
        wrong = [result for result in compared if result.contradicted]
        evidence = tuple(
            piece
            for result in wrong
            for piece in span_evidence(
                CONTRADICTED_STATEMENT, material.answer, [result.span], result.document_id
            )
        )
        return FeatureValue(self.name, 1 - len(wrong) / len(compared), evidence)


class _Statement(NamedTuple):
    claim: Claim
    sentence: Sentence


class _Compared(NamedTuple):
    span: tuple[int, int]
    contradicted: bool
    document_id: str


def statements(text: PreparedText) -> tuple[_Statement, ...]:
    """Return the first clauses of a text that state something, each with its sentence."""
    return tuple(
        islice(
            (
                _Statement(claim, sentence)
                for sentence in sentences(text)
                for claim in sentence.claims
                if _can_be_compared(claim, sentence)
            ),
            _MOST_STATEMENTS,
        )
    )


def _can_be_compared(claim: Claim, sentence: Sentence) -> bool:
    says_what = claim.has_verb and not claim.elliptic
    return sentence.states and says_what and len(claim.content) >= FEWEST_WORDS


def _compared(statement: _Statement, material: Material) -> _Compared | None:
    found = [
        (match, document.document_id)
        for document in material.context
        for match in aligned(statement.claim, document.text.derived(known), SAME - _NEARLY)
        if len(match.claim.content) >= FEWEST_WORDS
    ]
    likest = max((match.likeness for match, _ in found), default=0.0)
    near = [(match, document) for match, document in found if match.likeness >= likest - _NEARLY]
    lexicon = material.answer.lexicon
    if likest < SAME or not all(_is_comparable(statement, match) for match, _ in near):
        return None
    contradicted = all(_contradicts(statement.claim, match.claim, lexicon) for match, _ in near)
    return _Compared((statement.claim.start, statement.claim.end), contradicted, near[0][1])


def _contradicts(left: Claim, right: Claim, lexicon: Lexicon) -> bool:
    """Say whether two clauses are opposed, and not in that one denies what the other does not speak of."""
    speak_of_it = left.negated <= right.content and right.negated <= left.content
    return opposed(left, right, lexicon) and speak_of_it


def _is_comparable(statement: _Statement, match: Aligned) -> bool:
    if not _can_be_compared(match.claim, match.sentence):
        return False
    if (statement.claim.restricted_to is None) != (match.claim.restricted_to is None):
        return False
    if statement.claim.limits != match.claim.limits:
        return False
    return statement.sentence.conditional == match.sentence.conditional
