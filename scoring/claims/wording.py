"""Whether a statement of a document says what a claim says, in the claim's own words."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from enum import Enum, auto
from functools import cached_property
from itertools import pairwise

import numpy as np

from scoring.claims.claim_extraction import Claim
from scoring.claims.document_statements import DocumentStatement, Span, document_statements
from scoring.claims.grounding import sentence_index
from scoring.figures.quantities import parse_number
from scoring.text.prepared_text import PreparedExchange, PreparedPassage, PreparedText
from scoring.text.spans import is_word, marked_spans, token_span

# With fewer words of content any sentence may have all of them by chance: "that works".
_FEWEST = 2
# A word as long as this is the last part of a longer one: "rekening" of "bankrekening".
_SHORTEST_TAIL = 5
# What is shorter denies the rest: "impossible", "unsaved".
_SHORTEST_HEAD = 4
# Words that count and that the claim has not, from its first word to its last in the statement.
_MOST_BETWEEN = 8
# So near after "if" stands "want" where it only names a purpose.
_NEAR = 9
# "Plan A", not the article that opens a sentence.
_LETTER = re.compile(r"\w [A-Z]\Z")
_AFTER_QUESTION = ' \n\t*_#"”)'
# Of a document so many statements are compared, those that have most of the words.
_MOST_COMPARED = 4
# A parser errs about one role easily, and hardly about both of a verb.
_EXCHANGED = 2
# A form that no single word has.
_OBLIGATION = "have to"
_ROLES = {"nsubj": "subject", "nsubj:pass": "object", "obj": "object"}
_PART_SIGNS = frozenset(",;")

#: Where each word of a claim stands in a statement, both by their place among the words.
WordMatches = Mapping[int, Sequence[int]]


class WordKind(Enum):
    """What a word of a claim asks of the statement that is to say the same."""

    #: To have it, or to stand under it.
    CONTENT = auto()
    #: To have it itself, as digits or in words.
    NUMBER = auto()
    #: To have it itself: "only", "must", "all", "turn off".
    AGREEING = auto()
    NEGATION = auto()
    #: Nothing: "choose", "also", "the button", "the".
    LIGHT = auto()


class Wording:
    """Words of a text by the forms in which they are compared.

    Forms are the folded word, its lemma, either without a plural ending, and the digits of a number. A verb
    whose particle stands elsewhere has the lemma of the two alone.
    """

    def __init__(self, text: PreparedText, spans: Sequence[Span], names: Sequence[Span] = ()) -> None:
        """Read the words in ``spans``; every word of ``names``, which are spans too, counts."""
        self.text, self.spans, self._names = text, spans, names

    @cached_property
    def tokens(self) -> list[int]:
        """The words as indices of tokens."""
        parse = self.text.parse
        return [n for span in self.spans for n in parse.indices(*span) if is_word(parse, n)]

    @cached_property
    def names(self) -> list[Span | None]:
        """Of each word the name that it belongs to."""
        starts = (self.text.parse.start[n] for n in self.tokens)
        return [next((name for name in self._names if name[0] <= at < name[1]), None) for at in starts]

    @cached_property
    def kinds(self) -> list[WordKind]:
        """The kind of each word."""
        return [_kind(self.text, n, bool(name)) for n, name in zip(self.tokens, self.names, strict=True)]

    @cached_property
    def forms(self) -> list[set[str]]:
        """The forms of each word."""
        parse = self.text.parse
        parted = {int(parse.head[n]) for n in self.tokens if parse.dep[n] == "compound:prt"}
        return [set(_forms(self.text, n, n in parted)) for n in self.tokens]

    @cached_property
    def indices_by_form(self) -> Mapping[str, list[int]]:
        """The places of the words that have a form."""
        found = defaultdict[str, list[int]](list)
        for place, forms in enumerate(self.forms):
            for form in forms:
                found[form].append(place)
        return found

    def of_kind(self, kind: WordKind) -> list[int]:
        """Return the places of the words of a kind."""
        return [place for place, each in enumerate(self.kinds) if each is kind]

    def is_significant(self, place: int) -> bool:
        """Say whether a word is of any kind but light."""
        return self.kinds[place] is not WordKind.LIGHT

    def significant_neighbours(self, place: int) -> tuple[int | None, int | None]:
        """Return the last word that counts before a word, and the first after it."""
        before, after = range(place - 1, -1, -1), range(place + 1, len(self.tokens))
        return next(filter(self.is_significant, before), None), next(filter(self.is_significant, after), None)

    def withholding_words(self) -> set[str]:
        """Return the words that withhold: a condition (no purpose: "if you want"), a plan, a doubt."""
        parse, words, found = self.text.parse, self.text.lexicon.claims, set[str]()
        for place, n in enumerate(self.tokens):
            near = self.tokens[place + 1 : place + _NEAR]
            if words.purposes.isdisjoint(parse.lemma[other] for other in near):
                found |= {parse.text[n], parse.lemma[n]} & words.withheld
        return found

    def find(self, claim: Wording, place: int) -> Sequence[int]:
        """Return where the word of a claim stands, as it is or as the last part of a compound."""
        found = {at for form in claim.forms[place] for at in self.indices_by_form.get(form, ())}
        word = claim.text.parse.text[claim.tokens[place]]
        if not found and claim.kinds[place] is WordKind.CONTENT and len(word) >= _SHORTEST_TAIL:
            longer = (
                form
                for form in self.indices_by_form
                if form.endswith(word) and len(form) - len(word) >= _SHORTEST_HEAD
            )
            found = {at for form in longer for at in self.indices_by_form[form]}
        return sorted(found)

    def part_numbers(self) -> list[int]:
        """Return for each word how many parts, joined by a comma or "and", precede its own."""
        parse, original, count, found = self.text.parse, self.text.original, 0, []
        for place, n in enumerate(self.tokens):
            between = original[int(parse.end[self.tokens[place - 1]]) : int(parse.start[n])] if place else ""
            count += parse.text[n] in self.text.lexicon.claims.joints or not _PART_SIGNS.isdisjoint(between)
            found.append(count)
        return found

    def directions(self, place: int) -> frozenset[str]:
        """Return the words such as "from" and "to" between a word and the last that counts before it."""
        before, _ = self.significant_neighbours(place)
        first = 0 if before is None else before + 1
        said = (self.text.parse.text[self.tokens[p]] for p in range(first, place))
        return self.text.lexicon.claims.directions.intersection(said)


def claim_wording(claim: Claim, answer: PreparedText) -> Wording:
    """Return the words of a claim."""
    inner = [(mark.start, mark.end) for mark in answer.cached(marked_spans)]
    return Wording(answer, [(claim.start, claim.end)], inner)


def find_statement(claim: Claim, exchange: PreparedExchange) -> tuple[int, Span] | None:
    """Return the statement that says a claim: its document's place in the context, and its own there.

    1. It has all words of content, at least two itself, the others in what it stands under: forms of one
       word are one, synonyms are not. Numbers, words such as "only" or "must", and names from their first
       word to the last stand in it.
    2. It has as many negations as the claim, each beside the same word; "fails to" is one too.
    3. It is asserted: no question, no condition, plan or doubt that the claim has not.
    4. Between the claim's words stand few others, and no number.
    5. Subject and object of a verb are not exchanged, nor "from" and "to", nor what stands before and after
       "before", nor what two parts of it say: "red is on and green is off".
    """
    said = claim_wording(claim, exchange.answer)
    for place, document in enumerate(exchange.context):
        for statement in _nearest(claim, document):
            own = Wording(document.text, statement.own_spans)
            if _states(said, own, Wording(document.text, statement.parent_spans)):
                return place, token_span(document.text, own.tokens)
    return None


def missing_spans(
    claim: Claim, answer: PreparedText, document: PreparedText, passage: Span
) -> tuple[Span, ...]:
    """Return the places of what a claim has and a passage has not: content, numbers, "not" and "only".

    What the passage stands under counts as part of it.
    """
    said = claim_wording(claim, answer)
    met = [each for each in document.cached(document_statements) if each.overlaps(passage)]
    known = Wording(document, [passage, *(span for each in met for span in each.parent_spans)])
    denied = bool(known.of_kind(WordKind.NEGATION))
    lacked = [
        said.tokens[place]
        for place, kind in enumerate(said.kinds)
        if kind is not WordKind.LIGHT
        and not (denied if kind is WordKind.NEGATION else known.find(said, place))
    ]
    spans = list[Span]()
    for n in lacked:
        start, end = int(answer.parse.start[n]), int(answer.parse.end[n])
        joins = spans and not answer.original[spans[-1][1] : start].strip()
        spans.append((spans.pop()[0], end) if joins else (start, end))
    return tuple(spans)


def _kind(text: PreparedText, n: int, is_named: bool) -> WordKind:
    parse, lexicon, words = text.parse, text.lexicon, text.lexicon.claims
    both = {parse.text[n], parse.lemma[n]}
    if both & (lexicon.negations | words.denials) or parse.text[n].endswith("n't"):
        return WordKind.NEGATION
    if both & words.agreeing or parse.dep[n] == "prt" or _is_have_to(text, n):
        return WordKind.AGREEING
    if any(map(str.isdigit, parse.text[n])) or parse.text[n] in words.numbers:
        return WordKind.NUMBER
    if _LETTER.search(text.original, int(parse.start[n]) - 2, int(parse.end[n])):
        return WordKind.CONTENT
    empty = lexicon.function_words if is_named else lexicon.function_words | words.light
    return WordKind.LIGHT if both & empty else WordKind.CONTENT


def _is_have_to(text: PreparedText, n: int) -> bool:
    """Say whether a word is the "have" of "have to"."""
    parse, lexicon = text.parse, text.lexicon
    if parse.lemma[n] not in lexicon.claims.have or n + 1 == len(parse):
        return False
    return parse.pos[n + 1] == "PART" and parse.text[n + 1] not in lexicon.negations


def _forms(text: PreparedText, n: int, is_parted: bool) -> Iterator[str]:
    word, lemma, lexicon = text.parse.text[n], text.parse.lemma[n], text.lexicon
    if _is_have_to(text, n):
        yield _OBLIGATION
        return
    if word in lexicon.claims.numbers:
        yield str(lexicon.claims.numbers[word])
    if number := parse_number(word):
        yield from (f"{value.normalize():f}" for value in number.values)
    for form in (lemma,) if is_parted else (word, lemma):
        yield from (form, lexicon.stem(form.replace("-", "")))


def _nearest(claim: Claim, document: PreparedPassage) -> list[DocumentStatement]:
    """Return the statements of a document that have most words of a claim."""
    known, found = document.text.cached(sentence_index), document.text.cached(document_statements)
    starts = [each.own_spans[0][0] for each in found]
    of_sentence = np.searchsorted(starts, [start for start, _ in known.spans], side="right") - 1
    counts = Counter(
        place
        for word in claim.words
        for place in np.unique(of_sentence[known.match_levels(word) > 0]).tolist()
    )
    return [found[place] for place, _ in counts.most_common(_MOST_COMPARED)]


def _states(claimed: Wording, statement: Wording, parents: Wording) -> bool:
    found = dict[int, Sequence[int]]()
    for place, kind in enumerate(claimed.kinds):
        if kind in (WordKind.LIGHT, WordKind.NEGATION):
            continue
        if places := statement.find(claimed, place):
            found[place] = places
        elif kind is not WordKind.CONTENT or not parents.find(claimed, place):
            return False
    content = [place for place in found if claimed.kinds[place] is WordKind.CONTENT]
    if len(content) < _FEWEST:
        return False
    stretch = _shortest(found)
    return (
        _is_asserted(claimed, statement)
        and _denies_alike(claimed, statement, found)
        and _names_whole(claimed, statement, parents)
        and _is_one_part(statement, stretch.values())
        and _keeps_order(claimed, found)
        and sum(not _has_role(claimed, statement, place, at) for place, at in stretch.items()) < _EXCHANGED
        and _has_directions(claimed, statement, stretch)
        and not _exchanges_parts(claimed, statement, found)
    )


def _shortest(matches: WordMatches) -> Mapping[int, int]:
    """Return where each word stands in the shortest stretch that has all of them."""
    stretches = list[dict[int, int]]()
    for start in sorted({at for places in matches.values() for at in places}):
        later = {place: [at for at in places if at >= start] for place, places in matches.items()}
        if all(later.values()):
            stretches.append({place: places[0] for place, places in later.items()})
    return min(stretches, key=lambda each: max(each.values()) - min(each.values()))


def _is_asserted(claimed: Wording, statement: Wording) -> bool:
    """Say whether a statement neither asks nor makes a condition or a plan that the claim has not."""
    start, end = statement.spans[0]
    is_asked = statement.text.original[start:end].rstrip(_AFTER_QUESTION).endswith("?")
    return not is_asked and statement.withholding_words() <= claimed.withholding_words()


def _denies_alike(claimed: Wording, statement: Wording, matches: WordMatches) -> bool:
    """Say whether there are as many negations, each before or after the same word as in the claim."""

    def same(mine: int | None, theirs: int | None) -> bool:
        if mine is None or theirs is None:
            return mine is theirs
        both = claimed.kinds[mine], statement.kinds[theirs]
        return theirs in matches.get(mine, ()) or both == (WordKind.NEGATION, WordKind.NEGATION)

    mine, theirs = claimed.of_kind(WordKind.NEGATION), statement.of_kind(WordKind.NEGATION)
    return len(mine) == len(theirs) and all(
        any(map(same, claimed.significant_neighbours(at), statement.significant_neighbours(other)))
        for at, other in zip(mine, theirs, strict=True)
    )


def _is_one_part(statement: Wording, places: Collection[int]) -> bool:
    """Say whether little stands between words, no number does, and nothing that is alike: "to A, C to B"."""
    if len(statement.spans) > 1:
        return True  # of a table
    between = [
        at for at in range(min(places), max(places)) if statement.is_significant(at) and at not in places
    ]
    if len(between) > _MOST_BETWEEN or any(statement.kinds[at] is WordKind.NUMBER for at in between):
        return False
    return not any(
        statement.directions(right) & statement.directions(at)
        for left, right in pairwise(sorted(set(places)))
        for at in between
        if left < at < right
    )


def _keeps_order(claimed: Wording, matches: WordMatches) -> bool:
    """Say whether the words of a claim with "before" or "after" stand in its order."""
    words = claimed.text.lexicon.claims.sequence
    if words.isdisjoint(claimed.text.parse.text[n] for n in claimed.tokens):
        return True
    last: int | None = -1
    for place in sorted(matches):
        last = next((at for at in matches[place] if last is not None and at > last), None)
    return last is not None


def _names_whole(claimed: Wording, statement: Wording, parents: Wording) -> bool:
    pairs = (
        place
        for place, (name, following) in enumerate(pairwise(claimed.names))
        if name and name == following and claimed.tokens[place + 1] == claimed.tokens[place] + 1
    )
    return all(
        any(
            at + 1 in each.find(claimed, place + 1)
            for each in (statement, parents)
            for at in each.find(claimed, place)
        )
        for place in pairs
    )


def _has_role(claimed: Wording, statement: Wording, place: int, at: int) -> bool:
    parse, n = claimed.text.parse, claimed.tokens[place]
    role = _ROLES.get(parse.dep[n])
    heads = (verb for verb, head in enumerate(claimed.tokens) if head == parse.head[n])
    verbs = {statement.tokens[verb] for head in heads for verb in statement.find(claimed, head)}
    there, token = statement.text.parse, statement.tokens[at]
    other = _ROLES.get(there.dep[token]) if there.head[token] in verbs else None
    return role is None or other is None or role == other


def _has_directions(claimed: Wording, statement: Wording, places: Mapping[int, int]) -> bool:
    """Say whether no word has another direction, nor one the direction that another has in the claim."""
    pairs = [(claimed.directions(place), statement.directions(at)) for place, at in places.items()]
    if any(mine and theirs and not mine & theirs for mine, theirs in pairs):
        return False
    lost = any(mine and not theirs for mine, theirs in pairs)
    return not (lost and any(theirs and not mine for mine, theirs in pairs))


def _exchanges_parts(claimed: Wording, statement: Wording, matches: WordMatches) -> bool:
    """Say whether words of one part of a claim stand with those of another, and these with those of it."""
    parts, others = claimed.part_numbers(), statement.part_numbers()
    of = defaultdict[int, set[int]](set)
    spread = defaultdict[int, set[int]](set)
    for place, (first, *more) in matches.items():
        if not more:
            of[others[first]].add(parts[place])
            spread[parts[place]].add(others[first])
    return any(sum(len(spread[part]) > 1 for part in each) > 1 for each in of.values())
