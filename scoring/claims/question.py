"""A question, and what it asks put to the documents."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from scoring.claims.alignment import Asked, coverage
from scoring.claims.known import Known
from scoring.claims.reading import Claim, content_of, sentences
from scoring.lexicon import Lexicon
from scoring.text.prepared import PreparedText

# No question or answer of support has more words; what is left out of a longer one cannot cost time.
_MOST_WORDS = 300


@dataclass(frozen=True, slots=True)
class Question:
    """The clauses of a question that asks for something, and its content words."""

    claims: tuple[Claim, ...]
    words: frozenset[str]


def question_of(text: PreparedText) -> Question | None:
    """Return what a text asks, or None where it denies something: what a yes means is then unclear.

    It denies with a negation ("not", and here "without" too), or with a word such as "forbidden".
    """
    claims = tuple(claim for sentence in text.derived(sentences) for claim in sentence.claims)
    if any(_denies(claim, text.lexicon) for claim in claims):
        return None
    return Question(claims, frozenset(sorted(content_of(claims))[:_MOST_WORDS]))


def content_words(text: PreparedText) -> frozenset[str]:
    """Return the content words of a text, the first 300 of them in the order of the alphabet."""
    words = content_of(claim for sentence in text.derived(sentences) for claim in sentence.claims)
    return frozenset(sorted(words)[:_MOST_WORDS])


def alike(words: frozenset[str], document: Known) -> frozenset[str]:
    """Return the words of a document that are those of ``words`` or of one root with them."""
    return frozenset[str]().union(*map(document.like, words))


def replies(words: frozenset[str], document: Known) -> Iterator[Asked]:
    """Yield the sentences of a document that state something and share a word with the question."""
    for candidate in coverage(words, document):
        if candidate.sentence.states and any(claim.has_verb for claim in candidate.sentence.claims):
            yield candidate


def _denies(claim: Claim, lexicon: Lexicon) -> bool:
    words = claim.words
    return not (words.isdisjoint(lexicon.negations) and words.isdisjoint(lexicon.claims.denials))
