"""The values that claims have, compared with those at the one place of the documents that they lead to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from scoring.claims.claim_extraction import Claim, ClaimKind, claims
from scoring.claims.grounding import span_with_signs
from scoring.figures.clause import Clause, FigureBounds
from scoring.figures.quantities import ValueAgreement, compare_quantities
from scoring.figures.table_lookup import look_up
from scoring.figures.tables import figure_stem, tables
from scoring.text.prepared_text import PreparedExchange, PreparedText
from scoring.text.spans import sentence_tokens, token_span

# Parts of speech (Universal Dependencies).
_ACTS, _ARTICLE = frozenset({"VERB", "AUX"}), "DET"
_FEWEST_WORDS = 2


@dataclass(frozen=True, slots=True)
class ComparedValue:
    """The one place of a document that the words of a claim lead to, and what it says of the claim.

    ``document``: that of the place in the context; ``start`` and ``end``: the row or sentence in its text.
    """

    agreement: ValueAgreement
    document_index: int
    start: int
    end: int


def compared_values(exchange: PreparedExchange) -> Mapping[int, ComparedValue]:
    """Return what the documents say at the places that claims of the answer lead to, by where each begins.

    1. A claim whose words lead to one row and one column of a table, or to one key of a list, and that claims
       a number, amount, date, time of day, or yes or no of it (:mod:`scoring.figures.table_lookup`).
    2. A claim that has the words of one sentence, and the same or another number there, or as many negations
       or one more or less.

    Where several places say something of a claim, one that bears it out counts. Only texts as they came are
    compared, in a language whose lexicon has figures.
    """
    answer = exchange.answer
    if answer.source is not None or answer.lexicon.figures is None:
        return {}
    found: dict[int, ComparedValue] = {}
    for claim in answer.cached(claims):
        if claim.kind is not ClaimKind.CLAIM:
            continue
        if told := [*_compare_with_cells(claim, exchange)] or [*_compare_with_sentences(claim, exchange)]:
            found[claim.start] = min(told, key=lambda each: each.agreement is not ValueAgreement.SAME)
    return found


def _compare_with_cells(claim: Claim, exchange: PreparedExchange) -> Iterator[ComparedValue]:
    start, end = span_with_signs(exchange.answer, claim)
    clause = Clause.of(exchange.answer.original[start:end], exchange.answer.lexicon)
    for place, document in enumerate(exchange.context if clause else ()):
        for table in document.text.cached(tables):
            assert clause is not None
            if found := look_up(clause, table):
                yield ComparedValue(found[0], place, *found[1])


@dataclass(frozen=True, slots=True)
class ComparableSentence:
    """What a sentence says, ready to compare: the forms of its words of content in order, without figures.

    ``acts``: the forms of those that are verbs; ``forms``: of all. ``has_name``: it speaks of something by
    its name. ``clause``: the sentence as the checks of figures read it; ``how``: how its figures are meant.
    """

    clause: Clause
    bounds: FigureBounds
    start: int
    end: int
    words: tuple[frozenset[str], ...]
    forms: frozenset[str]
    verb_forms: frozenset[str]
    has_name: bool

    def is_covered_by(self, other: ComparableSentence) -> bool:
        """Say whether another one has all of its words."""
        return not any(other.forms.isdisjoint(word) for word in self.words)

    @property
    def conditions(self) -> frozenset[str]:
        """The words that tell of which cases it speaks, and how its figures are meant."""
        return self.clause.conditions.union(map(str, self.bounds.by_word.values()))


def comparable_sentences(text: PreparedText) -> tuple[ComparableSentence, ...]:
    """Return what the sentences of a text say that speak for themselves; rows of tables are none."""
    runs = ((run, token_span(text, run)) for run in sentence_tokens(text))
    found = (
        _comparable_sentence(text, run, *span) for run, span in runs if "|" not in text.original[slice(*span)]
    )
    return tuple(each for each in found if each)


def _comparable_sentence(
    text: PreparedText, run: Sequence[int], start: int, end: int
) -> ComparableSentence | None:
    parse, lexicon = text.parse, text.lexicon
    clause = Clause.of(text.original[start:end], lexicon)
    if clause is None or not clause.figure_words.pointing.isdisjoint(word.text for word in clause.words):
        return None
    if clause.bounds is None:
        return None
    spans = [(each.quantity.start, each.quantity.end) for each in clause.numbers]
    small = (
        lexicon.function_words
        | lexicon.negations
        | clause.figure_words.yes
        | clause.figure_words.no
        | {"n't", "not"}
    )
    kept = [
        n
        for n in run
        if not parse.is_stop[n]
        and small.isdisjoint((parse.text[n], parse.lemma[n]))
        and any(map(str.isalnum, parse.text[n]))
        and not any(first <= parse.start[n] - start < last for first, last in spans)
    ]
    words = {
        n: frozenset(figure_stem(word, lexicon) for word in (parse.text[n], parse.lemma[n])) for n in kept
    }
    return ComparableSentence(
        clause,
        clause.bounds,
        start,
        end,
        tuple(words.values()),
        frozenset[str]().union(*words.values()),
        frozenset[str]().union(*(words[n] for n in kept if parse.pos[n] in _ACTS)),
        not any(parse.pos[n] == _ARTICLE for n in run),
    )


def _compare_with_sentences(claim: Claim, exchange: PreparedExchange) -> Iterator[ComparedValue]:
    said = _comparable_sentence(exchange.answer, claim.tokens, claim.start, claim.end)
    if said is None or len(said.clause.numbers) > 1 or said.clause.negation_parity > 1:
        return
    for place, document in enumerate(exchange.context):
        for other in document.text.cached(comparable_sentences):
            if found := _compare(said, other):
                yield ComparedValue(found, place, other.start, other.end)


def _compare(claimed: ComparableSentence, other: ComparableSentence) -> ValueAgreement | None:
    """Return what a sentence of a document says of a claim that has its words; None where they differ."""
    figures, others = claimed.clause.numbers, other.clause.numbers
    if not claimed.words or not claimed.is_covered_by(other):
        return None
    by_figure = [
        compare_quantities(
            its.quantity.number,
            other.clause.figure_unit(its),
            figure.quantity.number,
            claimed.clause.figure_unit(figure),
        )
        for figure in figures[:1]
        for its in others
    ]
    is_same = claimed.clause.negation_parity == other.clause.negation_parity
    if ValueAgreement.SAME in by_figure or not (figures or others):
        found = ValueAgreement.SAME if is_same else ValueAgreement.DIFFERENT
    elif by_figure == [ValueAgreement.DIFFERENT] and not (
        claimed.clause.negation_parity or other.clause.negation_parity
    ):
        found = ValueAgreement.DIFFERENT
    else:
        return None
    if found is ValueAgreement.SAME:
        return found
    is_enough = (
        len(claimed.words) >= _FEWEST_WORDS
        or claimed.has_name
        or any(map(claimed.clause.figure_unit, figures))
    )
    is_alike = _is_alike(claimed, other) and claimed.conditions == other.conditions
    return found if is_alike and is_enough and other.clause.negation_parity < _FEWEST_WORDS else None


def _is_alike(claimed: ComparableSentence, other: ComparableSentence) -> bool:
    """Say whether two have the same words, and those that are no verbs in the same order."""
    acts = claimed.verb_forms | other.verb_forms
    things, its = ([word for word in each.words if acts.isdisjoint(word)] for each in (claimed, other))
    in_order = len(things) == len(its) and not any(map(frozenset.isdisjoint, things, its))
    return in_order and other.is_covered_by(claimed)
