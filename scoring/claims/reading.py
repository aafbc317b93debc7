"""The sentences of a text, and in each the clauses: what they speak of, and whether they deny it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from scoring.claims.quantities import limits
from scoring.lexicon import Lexicon
from scoring.text.parsing import NO_WORDS, Parse
from scoring.text.prepared import PreparedText
from scoring.text.sentences import ends_between, is_closed

_NUMBER_OF_STEP = re.compile(r"[ \t]{0,20}(?:\*\*|__)?\d{1,2}[.)][ \t*_\"“‘']{1,8}")
# So much may stand between the last word of a line and its end.
_MARKUP = 4
_VERBS = frozenset({"VERB", "AUX"})


@dataclass(frozen=True, slots=True)
class Claim:
    """One clause: ``words`` are all its words and lemmas, ``content`` the lemmas that carry content.

    Among ``words`` are terms of two words such as "have to". ``negative``: it holds one negation, or three;
    ``limits``: it holds one of a number ("no more than 5"), which denies nothing. ``restricted_to``: the
    content after a word such as "only", None where there is none. ``corrects``: it begins with a word such as
    "but". ``elliptic``: its verbs do not tell what is done ("others cannot"). ``negated``: the content that
    its negations belong to. ``start`` and ``end`` are character offsets into the original text.
    """

    words: frozenset[str]
    content: frozenset[str]
    negative: bool
    restricted_to: frozenset[str] | None
    corrects: bool
    has_verb: bool
    elliptic: bool
    limits: bool
    negated: frozenset[str]
    start: int
    end: int

    def denies_possibility(self, lexicon: Lexicon) -> bool:
        """Say whether it says that something cannot be done: "is not possible", "is not supported"."""
        return self.negative and not self.words.isdisjoint(lexicon.claims.possibility)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence with its clauses, of which there is at least one.

    ``states``: it is neither a heading nor a step such as "Click Save". ``conditional``: it holds a condition
    or a number, so what it says need not hold for every case.
    """

    claims: tuple[Claim, ...]
    states: bool
    conditional: bool

    @property
    def span(self) -> tuple[int, int]:
        """Where it stands in the original text."""
        return self.claims[0].start, self.claims[-1].end

    @property
    def content(self) -> frozenset[str]:
        """The lemmas of all clauses that carry content."""
        return content_of(self.claims)


def sentences(text: PreparedText) -> tuple[Sentence, ...]:
    """Return the sentences of the compared part, in order; a colon, a semicolon and a line end one too."""
    return tuple(_sentence(text, tokens) for tokens in _runs(text))


def content_of(claims: Iterable[Claim]) -> frozenset[str]:
    """Return the lemmas of several clauses that carry content."""
    return frozenset().union(*(claim.content for claim in claims))


def opposed(left: Claim, right: Claim, lexicon: Lexicon) -> bool:
    """Say whether one clause denies what the other says, where both speak of the same.

    One has a negation more, or one has a word and the other its opposite ("mandatory", "optional"); where
    both is so, they say the same.
    """
    return (left.negative != right.negative) != have_opposites(left, right, lexicon)


def have_opposites(left: Claim, right: Claim, lexicon: Lexicon) -> bool:
    """Say whether one clause has a word and the other its opposite instead."""
    for one, other in lexicon.claims.opposites:
        for here, there in ((one, other), (other, one)):
            says = not here.isdisjoint(left.words) and there.isdisjoint(left.words)
            says_opposite = not there.isdisjoint(right.words) and here.isdisjoint(right.words)
            if says and says_opposite:
                return True
    return False


def _runs(text: PreparedText) -> Iterator[list[int]]:
    """Yield the indices of the words of each sentence."""
    parse, run = text.parse, list[int]()
    for index in range(len(parse)):
        if parse.pos[index] in NO_WORDS:
            continue
        if run and ends_between(text.original, int(parse.end[run[-1]]), int(parse.start[index])):
            yield run
            run = []
        run.append(index)
    if run:
        yield run


def _sentence(text: PreparedText, tokens: Sequence[int]) -> Sentence:
    parse, lists = text.parse, text.lexicon.claims
    claims = tuple(_claim(text, clause, tokens[0]) for clause in _clauses(text, tokens))
    words = frozenset().union(*(claim.words for claim in claims))
    conditional = not words.isdisjoint(lists.conditions) or any(map(_has_digit, words))
    start, end = int(parse.start[tokens[0]]), int(parse.end[tokens[-1]])
    states = not _orders(text, tokens[0]) and not _is_heading(text.original, start, end)
    return Sentence(claims, states, conditional)


def _clauses(text: PreparedText, tokens: Sequence[int]) -> Iterator[list[int]]:
    parse, clause = text.parse, [tokens[0]]
    for index in tokens[1:]:
        comma = "," in text.original[parse.end[clause[-1]] : parse.start[index]]
        if comma or parse.text[index] in text.lexicon.claims.contrasts:
            yield clause
            clause = []
        clause.append(index)
    yield clause


def _claim(text: PreparedText, tokens: Sequence[int], opening: int) -> Claim:
    parse, lexicon = text.parse, text.lexicon
    lists = lexicon.claims
    content = frozenset(parse.lemma[n] for n in tokens if _has_content(parse, n, lexicon))
    negations = [n for n in tokens if _negates(text, n, opening)]
    verbs = [n for n in tokens if parse.pos[n] in _VERBS]
    only = next((place for place, n in enumerate(tokens) if parse.text[n] in lists.restrictions), None)
    return Claim(
        words=_words(parse, tokens, lexicon),
        content=content,
        negative=len(negations) % 2 == 1,
        restricted_to=None if only is None else content & {parse.lemma[n] for n in tokens[only:]},
        corrects=parse.text[tokens[0]] in lists.contrasts,
        has_verb=bool(verbs),
        elliptic=bool(verbs) and all(parse.text[n] in lists.auxiliaries for n in verbs),
        limits=any(_is_negation(text, n) and limits(text, n) for n in tokens),
        negated=content & {parse.lemma[parse.head[n]] for n in negations},
        start=int(parse.start[tokens[0]]),
        end=int(parse.end[tokens[-1]]),
    )


def _words(parse: Parse, tokens: Sequence[int], lexicon: Lexicon) -> frozenset[str]:
    pairs = (f"{parse.lemma[n]} {parse.text[after]}" for n, after in pairwise(tokens))
    terms = frozenset(pair for pair in pairs if pair in lexicon.claims.terms)
    return frozenset(parse.text[n] for n in tokens).union((parse.lemma[n] for n in tokens), terms)


def _has_content(parse: Parse, index: int, lexicon: Lexicon) -> bool:
    lemma, lists = parse.lemma[index], lexicon.claims
    # What is possible, when and for whom is not what a clause speaks of.
    empty = (
        lexicon.function_words, lexicon.fillers, lexicon.negations, lists.possibility, lists.conditions,
        lists.restrictions, lists.contrasts, lists.least, lists.most, lists.yes, lists.no,
    )  # fmt: skip
    if any(parse.text[index] in words or lemma in words for words in empty):
        return False
    return len(lemma) > 1 and any(map(str.isalpha, lemma))


def _is_negation(text: PreparedText, index: int) -> bool:
    negations = text.lexicon.negations
    return text.parse.text[index] in negations or text.parse.lemma[index] in negations


def _negates(text: PreparedText, index: int, opening: int) -> bool:
    """Say whether a word denies its clause; "without" denies its noun alone and makes a condition."""
    if not _is_negation(text, index) or text.parse.pos[index] == "ADP" or limits(text, index):
        return False
    return not (index == opening and says_no(text, index))


def says_no(text: PreparedText, index: int) -> bool:
    """Say whether a word is the answer "no", not that of "no key is needed" or "no more than 5"."""
    parse, lexicon = text.parse, text.lexicon
    if parse.text[index] not in lexicon.claims.no or limits(text, index):
        return False
    follows = index + 1
    if parse.text[index] not in lexicon.negations or follows >= len(parse) or parse.pos[follows] in NO_WORDS:
        return True
    between = text.original[parse.end[index] : parse.start[follows]]
    return bool(between.strip()) or "\n" in between or parse.text[follows] in lexicon.function_words


def _orders(text: PreparedText, first: int) -> bool:
    """Say whether a sentence begins with a verb that orders, or with the number of a step."""
    parse, lexicon, original = text.parse, text.lexicon, text.original
    if parse.text[first] in lexicon.instruction_verbs or parse.text[first] in lexicon.action_verbs:
        return True
    start = int(parse.start[first])
    return _NUMBER_OF_STEP.fullmatch(original, _line_start(original, start), start) is not None


def _is_heading(original: str, start: int, end: int) -> bool:
    """Say whether a sentence is marked as a heading, or a line without a stop and an empty line below it."""
    line_start = _line_start(original, start)
    if original.startswith("#", line_start):
        return True
    line_end = original.find("\n\n", end, end + _MARKUP)
    if line_end < 0 or any(map(str.isalnum, original[line_start:start])):
        return False
    return not is_closed(original[end:line_end], also=":;")


def _line_start(original: str, place: int) -> int:
    return original.rfind("\n", 0, place) + 1


def _has_digit(word: str) -> bool:
    return any(map(str.isdigit, word))
