"""The values of claims, compared with those at the position of the documents that their words identify."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from scoring.claims.claim_extraction import Claim, ClaimKind, claims
from scoring.claims.grounding import span_with_signs
from scoring.figures.clause import Clause, FigureBounds
from scoring.figures.quantities import compare_quantities
from scoring.figures.table_lookup import look_up
from scoring.figures.tables import figure_stem, tables
from scoring.text.prepared_text import PreparedExchange, PreparedText
from scoring.text.spans import sentence_tokens, token_span
from scoring.values.checked_claims import ClaimStatus

# Parts of speech (Universal Dependencies).
_VERBS, _ARTICLE = frozenset({"VERB", "AUX"}), "DET"
_MIN_WORDS = 2
_MAX_NEGATIONS = 1


@dataclass(frozen=True, slots=True)
class ComparedValue:
    """The one row or sentence of a document that the words of a claim identify, and whether its value agrees.

    ``start`` and ``end`` are offsets in the text of the context's document ``document_index``.
    """

    status: ClaimStatus
    document_index: int
    start: int
    end: int


def compared_values(exchange: PreparedExchange) -> Mapping[int, ComparedValue]:
    """Return the compared values of the claims of the answer, by the offset of the claim.

    1. A claim whose words identify one row and one column of a table, or one key of a list, and that states a
       number, amount, date, time of day, or yes or no (:mod:`scoring.figures.table_lookup`).
    2. A claim with the words of one sentence, and the same or another number, or a negation more or less.
    3. A claim that something has or does what the whole of a sentence denies of a name ("Twinfield is not
       supported"), or that it does not have one of several things that a sentence lists.

    Where several positions are about a claim, one that agrees counts. Translations are not compared, nor
    languages without figures in their lexicon.
    """
    answer = exchange.answer
    if answer.source is not None or answer.lexicon.figures is None:
        return {}
    values: dict[int, ComparedValue] = {}
    for claim in answer.cached(claims):
        if claim.kind is not ClaimKind.CLAIM:
            continue
        if found := [*_compare_with_cells(claim, exchange)] or [*_compare_with_sentences(claim, exchange)]:
            values[claim.start] = min(found, key=lambda value: value.status is not ClaimStatus.SUPPORTED)
    return values


def _compare_with_cells(claim: Claim, exchange: PreparedExchange) -> Iterator[ComparedValue]:
    start, end = span_with_signs(exchange.answer, claim)
    clause = Clause.of(exchange.answer.original[start:end], exchange.answer.lexicon)
    if clause is None:
        return
    for index, document in enumerate(exchange.context):
        for table in document.text.cached(tables):
            if found := look_up(clause, table):
                yield ComparedValue(found[0], index, *found[1])


@dataclass(frozen=True, slots=True)
class ComparableSentence:
    """A sentence ready to compare.

    ``clause``: the sentence as the figure checks read it; ``bounds``: those of its figures. ``words``: the
    forms of its content words in order, without figures; ``forms``: all of them; ``verb_forms``: those of its
    verbs; ``listed_forms``: those of words that "and" or a comma joins. ``has_name``: it has no article, so
    its subject is a name.
    """

    clause: Clause
    bounds: FigureBounds
    start: int
    end: int
    words: tuple[frozenset[str], ...]
    forms: frozenset[str]
    verb_forms: frozenset[str]
    listed_forms: frozenset[str]
    has_name: bool

    def is_covered_by(self, other: ComparableSentence) -> bool:
        """Return whether another sentence has all of its words."""
        return not any(other.forms.isdisjoint(word) for word in self.words)

    @property
    def conditions(self) -> frozenset[str]:
        """The words that restrict the sentence to some cases, and how its figures are bounded."""
        lists = self.clause.figure_words
        bounded = {
            name
            for name, phrases in (("above", lists.above), ("below", lists.below))
            if any(self.clause.find_phrases(phrases))
        }
        return self.clause.conditions.union(map(str, self.bounds.by_word.values()), bounded)

    @property
    def affirms(self) -> bool:
        """Whether it has a word such as "supports", "included" or "possible"."""
        return not self.clause.figure_words.yes.isdisjoint(word.text for word in self.clause.words)


def comparable_sentences(text: PreparedText) -> tuple[ComparableSentence, ...]:
    """Return the sentences of a text that are understandable by themselves, without table rows."""
    spans = ((tokens, token_span(text, tokens)) for tokens in sentence_tokens(text))
    sentences = (
        _comparable_sentence(text, tokens, *span)
        for tokens, span in spans
        if "|" not in text.original[slice(*span)]
    )
    return tuple(sentence for sentence in sentences if sentence)


def _comparable_sentence(
    text: PreparedText, tokens: Sequence[int], start: int, end: int
) -> ComparableSentence | None:
    parse, lexicon = text.parse, text.lexicon
    clause = Clause.of(text.original[start:end], lexicon)
    if clause is None or not clause.figure_words.pointing.isdisjoint(word.text for word in clause.words):
        return None
    if clause.bounds is None:
        return None
    figures = [(number.quantity.start, number.quantity.end) for number in clause.numbers]
    small_words = (
        lexicon.function_words | lexicon.negations | clause.figure_words.yes | clause.figure_words.no
    )
    small_words |= {"n't", "not"}
    words = {
        n: frozenset(figure_stem(word, lexicon) for word in (parse.text[n], parse.lemma[n]))
        for n in tokens
        if not parse.is_stop[n]
        and small_words.isdisjoint((parse.text[n], parse.lemma[n]))
        and any(map(str.isalnum, parse.text[n]))
        and not any(first <= parse.start[n] - start < last for first, last in figures)
    }
    verb_forms = frozenset[str]().union(*(forms for n, forms in words.items() if parse.pos[n] in _VERBS))
    joined = {each for n in tokens if parse.dep[n] == "conj" for each in (n, int(parse.head[n]))}
    listed_forms = frozenset[str]().union(*(words[n] for n in joined if n in words)) - verb_forms
    forms = frozenset[str]().union(*words.values())
    has_name = not any(parse.pos[n] == _ARTICLE for n in tokens)
    bounds, ordered = clause.bounds, tuple(words.values())
    return ComparableSentence(clause, bounds, start, end, ordered, forms, verb_forms, listed_forms, has_name)


def _compare_with_sentences(claim: Claim, exchange: PreparedExchange) -> Iterator[ComparedValue]:
    claimed = _comparable_sentence(exchange.answer, claim.tokens, claim.start, claim.end)
    if claimed is None or len(claimed.clause.numbers) > 1 or claimed.clause.negation_parity > _MAX_NEGATIONS:
        return
    for index, document in enumerate(exchange.context):
        for other in document.text.cached(comparable_sentences):
            if status := _compare(claimed, other):
                yield ComparedValue(status, index, other.start, other.end)


def _compare(claimed: ComparableSentence, other: ComparableSentence) -> ClaimStatus | None:
    """Return whether a sentence of a document agrees with a claim; None where it is about something else."""
    figures, others = claimed.clause.numbers, other.clause.numbers
    if not (figures or others) and _denies_name(claimed, other):
        return ClaimStatus.CONTRADICTED
    if not claimed.words or not claimed.is_covered_by(other):
        return None
    by_figure = [
        compare_quantities(
            other_figure.quantity.number,
            other.clause.figure_unit(other_figure),
            figure.quantity.number,
            claimed.clause.figure_unit(figure),
        )
        for figure in figures[:1]
        for other_figure in others
    ]
    negations = claimed.clause.negation_parity, other.clause.negation_parity
    if ClaimStatus.SUPPORTED in by_figure or not (figures or others):
        if negations[0] == negations[1]:
            return ClaimStatus.SUPPORTED
    elif by_figure != [ClaimStatus.CONTRADICTED] or any(negations):
        return None
    is_specific = (
        len(claimed.words) >= _MIN_WORDS or claimed.has_name or any(map(claimed.clause.figure_unit, figures))
    )
    is_alike = _is_alike(claimed, other) and claimed.conditions == other.conditions
    return ClaimStatus.CONTRADICTED if is_alike and is_specific and negations[1] <= _MAX_NEGATIONS else None


def _denies_name(claimed: ComparableSentence, other: ComparableSentence) -> bool:
    """Return whether a sentence denies what a claim affirms of a name, or lists what the claim denies."""
    negations = claimed.clause.negation_parity, other.clause.negation_parity
    if claimed.conditions or other.conditions or not (claimed.affirms and other.affirms and other.words):
        return False
    if negations == (0, 1):
        # The first word of the claim may be the product that the document is about.
        extra = [word for word in claimed.words[1:] if other.forms.isdisjoint(word)]
        return other.is_covered_by(claimed) and not extra
    if negations != (1, 0) or not claimed.words or not claimed.is_covered_by(other):
        return False
    return all(word <= other.listed_forms for word in other.words if claimed.forms.isdisjoint(word))


def _is_alike(claimed: ComparableSentence, other: ComparableSentence) -> bool:
    """Return whether two sentences have the same words, and those that are not verbs in the same order."""
    verb_forms = claimed.verb_forms | other.verb_forms
    nouns, other_nouns = (
        [word for word in each.words if verb_forms.isdisjoint(word)] for each in (claimed, other)
    )
    in_order = len(nouns) == len(other_nouns) and not any(map(frozenset.isdisjoint, nouns, other_nouns))
    return in_order and other.is_covered_by(claimed)
