"""Answers of which a document has every claim word for word, or nearly so."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from scoring.claims.grounded import GroundedClaim, answered_by, grounded_claims
from scoring.claims.passages import passages
from scoring.claims.reading import MOST_CLAIMS, Kind
from scoring.guides.finding import step_body
from scoring.guides.quoting import guide_answers, plain_lines
from scoring.text.material import Material
from scoring.text.prepared import PreparedText
from scoring.text.runs import sentence_runs

#: What a passage must have of a claim's words, in the claim's order, for the claim to be a repetition.
REPEATED = 0.7
# A claim with less of its content in any passage is none: comparing it in order would be lost time.
_COVERED = 0.7
# What the passages must have of the question, by weight, for the answer to be one to it.
_ANSWERS = 0.5
# Only the nearest sentences are compared word for word.
_NEAREST = 8
_MOST_WORDS = 80
_SAYS_NOTHING = frozenset({Kind.COURTESY, Kind.QUESTION})


class Place(NamedTuple):
    """Where a claim is repeated from: which document of the context, and which sentence of it."""

    document: int
    sentence: int


def repeats(material: Material) -> bool:
    """Say whether the documents have each claim of the answer nearly word for word.

    For every claim a sentence, or two that follow each other in a paragraph, have every word that carries
    content, at least 70% of all its words in its order (the longest common subsequence of their lemmas,
    fillers of the lexicon apart), and the same qualifiers ("not", "only", "unless"). Steps of a list stand in
    one document in the same order. The answer says nothing else but courtesies: no yes or no, no refusal. And
    it answers: the documents it repeats have half of the question's words, by weight, in one passage, and
    where it has steps, the guide with the first of them is the one asked for
    (:func:`scoring.guides.quoting.guide_answers`).
    """
    found = material.derived(grounded_claims)
    checked = [each for each in found if each.grounding]
    others = [each.claim.kind for each in found if not each.grounding]
    if not checked or len(found) >= MOST_CLAIMS or not _SAYS_NOTHING.issuperset(others):
        return False
    if any(each.grounding.share < _COVERED for each in checked if each.grounding):
        return False
    places = [place for each in checked if (place := _place(each, material))]
    if len(places) < len(checked):
        return False
    steps = [place for each, place in zip(checked, places, strict=True) if _is_step(material.answer, each)]
    if not all(left.document == right.document and left < right for left, right in pairwise(steps)):
        return False
    return _answers(material, places) and (not steps or _guides(material, steps[0]))


def _place(each: GroundedClaim, material: Material) -> Place | None:
    answer = material.answer
    own, qualifiers = _lemmas(answer, each.claim.tokens), _qualifiers(answer, each.claim.tokens)
    content = {word.forms[-1] for word in each.claim.words}
    for document, sentence, tokens in _nearest(each, material):
        text = material.context[document].text
        if qualifiers != _qualifiers(text, tokens):
            continue
        lemmas = _lemmas(text, tokens)
        if content <= set(lemmas) and _common(own, lemmas) >= REPEATED * len(own):
            return Place(document, sentence)
    return None


def _nearest(each: GroundedClaim, material: Material) -> Iterator[tuple[int, int, Sequence[int]]]:
    """Yield the sentences that share most words with a claim, alone and with the one after them."""
    lemmas = frozenset(_lemmas(material.answer, each.claim.tokens))
    ranked = sorted(
        (
            (-len(lemmas.intersection(_lemmas(document.text, run))), number, place)
            for number, document in enumerate(material.context)
            for place, run in enumerate(document.text.derived(sentence_runs))
        ),
    )
    for _, number, place in ranked[:_NEAREST]:
        text = material.context[number].text
        runs = text.derived(sentence_runs)
        yield number, place, runs[place]
        if place + 1 < len(runs) and _goes_on(text, runs[place], runs[place + 1]):
            yield number, place, (*runs[place], *runs[place + 1])


def _goes_on(text: PreparedText, left: Sequence[int], right: Sequence[int]) -> bool:
    """Say whether two sentences stand in one paragraph: a heading and what is below it do not."""
    return "\n\n" not in text.original[text.parse.end[left[-1]] : text.parse.start[right[0]]]


def _guides(material: Material, step: Place) -> bool:
    document = material.context[step.document]
    start = document.text.derived(passages).spans[step.sentence][0]
    above = [line for line, _ in document.text.derived(plain_lines) if line <= start]
    return guide_answers(material, document, len(above) - 1)


def _is_step(answer: PreparedText, each: GroundedClaim) -> bool:
    line = answer.original.rfind("\n", 0, each.claim.start) + 1
    body = step_body(answer, line, each.claim.end)
    return body is not None and not any(map(str.isalnum, answer.original[body : each.claim.start]))


def _answers(material: Material, places: Sequence[Place]) -> bool:
    repeated = (material.context[number] for number in sorted({place.document for place in places}))
    return answered_by(repeated, material.question) >= _ANSWERS


def _lemmas(text: PreparedText, tokens: Sequence[int]) -> list[str]:
    parse, fillers = text.parse, text.lexicon.fillers
    return [parse.lemma[n] for n in tokens[:_MOST_WORDS] if parse.text[n] not in fillers]


def _qualifiers(text: PreparedText, tokens: Sequence[int]) -> frozenset[str]:
    return frozenset(text.parse.text[n] for n in tokens) & text.lexicon.claims.qualifiers


def _common(left: Sequence[str], right: Sequence[str]) -> int:
    """Return the length of the longest common subsequence."""
    above = [0] * (len(right) + 1)
    for word in left:
        row = [0]
        for place, other in enumerate(right):
            row.append(above[place] + 1 if word == other else max(above[place + 1], row[-1]))
        above = row
    return above[-1]
