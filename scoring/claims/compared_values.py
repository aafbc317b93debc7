"""The values that claims have, compared with those at the one place of the documents that they lead to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from scoring.claims.grounding import with_signs
from scoring.claims.reading import Claim, Kind, claims
from scoring.figures.clause import Clause, Meant, meant
from scoring.figures.labels import stem
from scoring.figures.lookup import Said, compared, look_up, tables
from scoring.figures.values import Obstacle
from scoring.text.prepared import Material, PreparedText
from scoring.text.spans import run_span, sentence_runs

# Parts of speech (Universal Dependencies).
_ACTS, _ARTICLE = frozenset({"VERB", "AUX"}), "DET"
_FEWEST_WORDS = 2


@dataclass(frozen=True, slots=True)
class ComparedValue:
    """The one place of a document that the words of a claim lead to, and what it says of the claim.

    ``document``: that of the place in the context; ``start`` and ``end``: the row or sentence in its text.
    """

    said: Said
    document: int
    start: int
    end: int


def compared_values(material: Material) -> Mapping[int, ComparedValue]:
    """Return what the documents say at the places that claims of the answer lead to, by where each begins.

    1. A claim whose words lead to one row and one column of a table, or to one key of a list, and that claims
       a number, amount, date, time of day, or yes or no of it (:mod:`scoring.figures.lookup`).
    2. A claim that has the words of one sentence, and the same or another number there, or as many negations
       or one more or less.

    Where several places say something of a claim, one that bears it out counts. Only texts as they came are
    compared, in a language whose lexicon has figures.
    """
    answer = material.answer
    if answer.source is not None or answer.lexicon.figures is None:
        return {}
    found: dict[int, ComparedValue] = {}
    for claim in answer.derived(claims):
        if claim.kind is not Kind.CLAIM:
            continue
        if told := [*_by_cells(claim, material)] or [*_by_sentences(claim, material)]:
            found[claim.start] = min(told, key=lambda each: each.said is not Said.SAME)
    return found


def _by_cells(claim: Claim, material: Material) -> Iterator[ComparedValue]:
    start, end = with_signs(material.answer, claim)
    clause = Clause.of(material.answer.original[start:end], material.answer.lexicon)
    for place, document in enumerate(material.context if clause else ()):
        for table in document.text.derived(tables):
            assert clause is not None
            if found := look_up(clause, table):
                yield ComparedValue(found[0], place, *found[1])


@dataclass(frozen=True, slots=True)
class Statement:
    """What a sentence says, ready to compare: the forms of its words of content in order, without figures.

    ``acts``: the forms of those that are verbs; ``forms``: of all. ``has_name``: it speaks of something by
    its name. ``clause``: the sentence as the checks of figures read it; ``how``: how its figures are meant.
    """

    clause: Clause
    how: Meant
    start: int
    end: int
    words: tuple[frozenset[str], ...]
    forms: frozenset[str]
    acts: frozenset[str]
    has_name: bool

    def is_within(self, other: Statement) -> bool:
        """Say whether another one has all of its words."""
        return not any(other.forms.isdisjoint(word) for word in self.words)

    @property
    def conditions(self) -> frozenset[str]:
        """The words that tell of which cases it speaks, and how its figures are meant."""
        said = {word.text for word in self.clause.words}
        return frozenset((*(said & self.clause.lists.conditions), *map(str, self.how.bounds.values())))


def statements(text: PreparedText) -> tuple[Statement, ...]:
    """Return what the sentences of a text say that speak for themselves; rows of tables are none."""
    runs = ((run, run_span(text, run)) for run in sentence_runs(text))
    found = (_statement(text, run, *span) for run, span in runs if "|" not in text.original[slice(*span)])
    return tuple(each for each in found if each)


def _statement(text: PreparedText, run: Sequence[int], start: int, end: int) -> Statement | None:
    parse, lexicon = text.parse, text.lexicon
    clause = Clause.of(text.original[start:end], lexicon)
    if clause is None or not clause.lists.pointing.isdisjoint(word.text for word in clause.words):
        return None
    how = meant(clause, frozenset())
    if isinstance(how, Obstacle):
        return None
    spans = [(each.amount.start, each.amount.end) for each in clause.numbers]
    small = lexicon.function_words | lexicon.negations | clause.lists.yes | clause.lists.no | {"n't", "not"}
    kept = [
        n
        for n in run
        if not parse.is_stop[n]
        and small.isdisjoint((parse.text[n], parse.lemma[n]))
        and any(map(str.isalnum, parse.text[n]))
        and not any(first <= parse.start[n] - start < last for first, last in spans)
    ]
    words = {n: frozenset(stem(word, lexicon) for word in (parse.text[n], parse.lemma[n])) for n in kept}
    return Statement(
        clause,
        how,
        start,
        end,
        tuple(words.values()),
        frozenset[str]().union(*words.values()),
        frozenset[str]().union(*(words[n] for n in kept if parse.pos[n] in _ACTS)),
        not any(parse.pos[n] == _ARTICLE for n in run),
    )


def _by_sentences(claim: Claim, material: Material) -> Iterator[ComparedValue]:
    said = _statement(material.answer, claim.tokens, claim.start, claim.end)
    if said is None or len(said.clause.numbers) > 1 or said.clause.denials > 1:
        return
    for place, document in enumerate(material.context):
        for other in document.text.derived(statements):
            if found := _compared(said, other):
                yield ComparedValue(found, place, other.start, other.end)


def _compared(said: Statement, other: Statement) -> Said | None:
    """Return what a sentence of a document says of a claim that has its words; None where they differ."""
    figures, others = said.clause.numbers, other.clause.numbers
    if not said.words or not said.is_within(other):
        return None
    by_figure = [
        compared(its.amount.number, other.clause.unit(its), figure.amount.number, said.clause.unit(figure))
        for figure in figures[:1]
        for its in others
    ]
    is_same = said.clause.denials == other.clause.denials
    if Said.SAME in by_figure or not (figures or others):
        found = Said.SAME if is_same else Said.OTHER
    elif by_figure == [Said.OTHER] and not (said.clause.denials or other.clause.denials):
        found = Said.OTHER
    else:
        return None
    if found is Said.SAME:
        return found
    is_enough = len(said.words) >= _FEWEST_WORDS or said.has_name or any(map(said.clause.unit, figures))
    is_alike = _is_alike(said, other) and said.conditions == other.conditions
    return found if is_alike and is_enough and other.clause.denials < _FEWEST_WORDS else None


def _is_alike(said: Statement, other: Statement) -> bool:
    """Say whether two have the same words, and those that are no verbs in the same order."""
    acts = said.acts | other.acts
    things, its = ([word for word in each.words if acts.isdisjoint(word)] for each in (said, other))
    in_order = len(things) == len(its) and not any(map(frozenset.isdisjoint, things, its))
    return in_order and other.is_within(said)
