"""The words of a claim that the documents lack and that are worth a reader's look."""

import re
from collections.abc import Iterator, Sequence

from scoring.claims.claim_extraction import Claim
from scoring.claims.document_statements import Span, document_statements
from scoring.claims.grounding import sentence_index
from scoring.claims.wording import Wording, WordKind, claim_wording
from scoring.text.prepared_text import PreparedExchange, PreparedText, split_words
from scoring.text.spans import marked_spans

# What separates the parts of a path: "Settings > Sending".
_PATH_PART = re.compile(r"[^/>→|»\n]+")
_PRONOUN = "PRON"


def missing_spans(
    claim: Claim, exchange: PreparedExchange, passage: tuple[PreparedText, Span] | None
) -> tuple[Span, ...]:
    """Return the spans of the numbers and names that neither documents nor question have, and of negations.

    A negation is missing where the passage has none. A name is a marked span, of a path each part, or a word
    with a capital letter. Other words are left out: those that the documents lack are hardly more often in an
    untrue sentence than those that they have, since a true answer says it in other words.

    Args:
        claim: a claim of the answer.
        exchange: the prepared texts.
        passage: a document and the span of the claim's passage in it, if it has one.
    """
    claimed = claim_wording(claim, exchange.answer)
    texts = [exchange.question, *(document.text for document in exchange.context)]
    near = _passage_wording(*passage) if passage else None
    missing = sorted((*_missing_names(claim, exchange.answer, texts), *_missing_words(claimed, texts, near)))
    spans = list[Span]()
    for start, end in missing:
        is_adjacent = spans and not exchange.answer.original[spans[-1][1] : start].strip()
        spans.append((spans.pop()[0], end) if is_adjacent else (start, end))
    return tuple(spans)


def _passage_wording(document: PreparedText, passage: Span) -> Wording:
    """Return the wording of a passage and of its statements with their headings."""
    statements = [each for each in document.cached(document_statements) if each.overlaps(passage)]
    parts = (span for each in statements for span in (*each.own_spans, *each.parent_spans))
    return Wording(document, [passage, *parts])


def _missing_names(claim: Claim, answer: PreparedText, texts: Sequence[PreparedText]) -> Iterator[Span]:
    """Yield the parts of marked spans whose words no text has in this order."""
    for mark in answer.cached(marked_spans):
        if not claim.start <= mark.start < claim.end:
            continue
        for part in _PATH_PART.finditer(answer.original, mark.start, mark.end):
            words = split_words(answer.original, *part.span())
            name = f" {' '.join(word.text for word in words)} "
            if words and not any(name in text.cached(_joined_words) for text in texts):
                yield words[0].start, words[-1].end


def _joined_words(text: PreparedText) -> str:
    return f" {' '.join(text.word_texts)} "


def _missing_words(claimed: Wording, texts: Sequence[PreparedText], near: Wording | None) -> Iterator[Span]:
    """Yield the numbers and capitalised words outside marked spans that no text has, and the negations."""
    parse, lacks_negation = claimed.text.parse, near is not None and not near.of_kind(WordKind.NEGATION)
    for index, kind in enumerate(claimed.kinds):
        n = claimed.tokens[index]
        start, end = int(parse.start[n]), int(parse.end[n])
        word = claimed.text.original[start:end]
        if kind is WordKind.NEGATION:
            is_missing = lacks_negation
        else:
            is_capitalised = index > 0 and word != word.lower() and parse.pos[n] != _PRONOUN
            is_missing = (
                kind is not WordKind.LIGHT
                and claimed.names[index] is None
                and (is_capitalised or kind is WordKind.NUMBER)
                and not (near and near.find(claimed, index))
                and not any(_has_word(text, claimed.forms[index]) for text in texts)
            )
        if is_missing:
            yield start, end


def _has_word(text: PreparedText, forms: set[str]) -> bool:
    numbers = (word for word, value in text.lexicon.claims.numbers.items() if str(value) in forms)
    return bool(text.cached(sentence_index).match_levels((*forms, *numbers)).any())
