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

# Any sentence may have fewer content words by chance: "that works".
_MIN_CONTENT_WORDS = 2
# A word of this length matches as the last part of a compound: "rekening" in "bankrekening".
_MIN_TAIL = 5
# A shorter first part negates the rest: "impossible", "unsaved".
_MIN_HEAD = 4
# Significant words of the statement between those of the claim.
_MAX_WORDS_BETWEEN = 8
# "want" names a purpose within so many words after "if".
_PURPOSE_REACH = 9
# "Plan A", not the article that starts a sentence.
_LETTER = re.compile(r"\w [A-Z]\Z")
_AFTER_QUESTION = ' \n\t*_#"”)'
# Of a document the statements with most words of the claim are compared.
_MAX_STATEMENTS = 4
# A parser often errs about one role, and rarely about both roles of a verb.
_MIN_EXCHANGED_ROLES = 2
# A form that no single word has.
_OBLIGATION = "have to"
_ROLES = {"nsubj": "subject", "nsubj:pass": "object", "obj": "object"}
_SUBJECTS = frozenset({"nsubj", "nsubj:pass", "csubj", "csubj:pass"})
_PART_SIGNS = frozenset(",;")

#: The indices of each word of a claim in a statement; both index the words of their wordings.
WordMatches = Mapping[int, Sequence[int]]


class WordKind(Enum):
    """What a word of a claim requires of a statement with the same meaning."""

    #: To have it, possibly in its headings.
    CONTENT = auto()
    #: To have it itself, as digits or in words.
    NUMBER = auto()
    #: To have it itself: "only", "must", "all", "turn off".
    REQUIRED = auto()
    NEGATION = auto()
    #: Nothing: "choose", "also", "the button", "the".
    LIGHT = auto()


class Wording:
    """Words of a text by the forms in which they are compared.

    Forms are the folded word, its lemma, both without a plural ending, and the digits of a number. A verb
    with a separate particle has only the lemma of both.
    """

    def __init__(self, text: PreparedText, spans: Sequence[Span], names: Sequence[Span] = ()) -> None:
        """Collect the words in ``spans``; in ``names``, spans too, every word is significant."""
        self.text, self.spans, self._names = text, spans, names

    @cached_property
    def tokens(self) -> list[int]:
        """The token index of each word."""
        parse = self.text.parse
        return [n for span in self.spans for n in parse.indices(*span) if is_word(parse, n)]

    @cached_property
    def names(self) -> list[Span | None]:
        """The name that each word belongs to."""
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
        separated = {int(parse.head[n]) for n in self.tokens if parse.dep[n] == "compound:prt"}
        return [set(_forms(self.text, n, n in separated)) for n in self.tokens]

    @cached_property
    def indices_by_form(self) -> Mapping[str, list[int]]:
        """The indices of the words with a form."""
        indices = defaultdict[str, list[int]](list)
        for index, forms in enumerate(self.forms):
            for form in forms:
                indices[form].append(index)
        return indices

    def of_kind(self, kind: WordKind) -> list[int]:
        """Return the indices of the words of a kind."""
        return [index for index, each in enumerate(self.kinds) if each is kind]

    def is_significant(self, index: int) -> bool:
        """Return whether a word is of any kind but light."""
        return self.kinds[index] is not WordKind.LIGHT

    def significant_neighbours(self, index: int) -> tuple[int | None, int | None]:
        """Return the nearest significant words before and after a word."""
        before, after = range(index - 1, -1, -1), range(index + 1, len(self.tokens))
        return next(filter(self.is_significant, before), None), next(filter(self.is_significant, after), None)

    def hedges(self) -> set[str]:
        """Return the words of a condition (not of a purpose: "if you want"), a plan or a doubt."""
        parse, words, hedges = self.text.parse, self.text.lexicon.claims, set[str]()
        for index, n in enumerate(self.tokens):
            following = self.tokens[index + 1 : index + _PURPOSE_REACH]
            if words.purposes.isdisjoint(parse.lemma[other] for other in following):
                hedges |= {parse.text[n], parse.lemma[n]} & words.hedges
        return hedges

    def head(self, index: int) -> int | None:
        """Return the word that a word depends on."""
        head = self.text.parse.head[self.tokens[index]]
        return next((other for other, n in enumerate(self.tokens) if n == head and other != index), None)

    def limits(self) -> set[str]:
        """Return the words that limit what the text says, or take it back."""
        parse, limits = self.text.parse, self.text.lexicon.claims.limits
        return {form for n in self.tokens for form in (parse.text[n], parse.lemma[n])} & limits

    def find(self, claim: Wording, index: int) -> Sequence[int]:
        """Return the matches of a claim's word, as it is or as the last part of a compound."""
        matches = {match for form in claim.forms[index] for match in self.indices_by_form.get(form, ())}
        word = claim.text.parse.text[claim.tokens[index]]
        if not matches and claim.kinds[index] is WordKind.CONTENT and len(word) >= _MIN_TAIL:
            for form, indices in self.indices_by_form.items():
                if form.endswith(word) and len(form) - len(word) >= _MIN_HEAD:
                    matches.update(indices)
        return sorted(matches)

    def part_numbers(self) -> list[int]:
        """Return for each word the number of parts, joined by a comma or "and", before its own."""
        parse, original, count, numbers = self.text.parse, self.text.original, 0, []
        for index, n in enumerate(self.tokens):
            between = original[int(parse.end[self.tokens[index - 1]]) : int(parse.start[n])] if index else ""
            is_conjunction = parse.text[n] in self.text.lexicon.claims.conjunctions
            count += is_conjunction or not _PART_SIGNS.isdisjoint(between)
            numbers.append(count)
        return numbers

    def directions(self, index: int) -> frozenset[str]:
        """Return the words such as "from" and "to" between a word and the significant one before it."""
        before, _ = self.significant_neighbours(index)
        between = range(0 if before is None else before + 1, index)
        return self.text.lexicon.claims.directions.intersection(
            self.text.parse.text[self.tokens[other]] for other in between
        )


def claim_wording(claim: Claim, answer: PreparedText) -> Wording:
    """Return the wording of a claim, with marked spans as names."""
    names = [(mark.start, mark.end) for mark in answer.cached(marked_spans)]
    return Wording(answer, [(claim.start, claim.end)], names)


def find_statement(claim: Claim, exchange: PreparedExchange) -> tuple[int, Span] | None:
    """Return the statement that says a claim: its document's index in the context, and its span there.

    1. It has all content words, at least two itself, the others in its headings: inflected forms match,
       synonyms do not. Numbers, words such as "only" or "must", and whole names are in the statement itself.
    2. It has as many negations as the claim, each next to the same word; "fails to" is one too. Where there
       are any, it says nothing else. Neither the lead of its list nor a heading that it needs has one.
    3. It is asserted: no question, and no condition, plan, doubt or limit ("only", "until") that the claim
       lacks.
    4. It says so of the same subject, and in a table, of the same column.
    5. Few other words, and no number, are between the claim's words.
    6. Nothing is exchanged: subject and object of a verb, "from" and "to", what is before and after "before",
       what two parts of it say ("red is on and green is off").

    A statement in exactly the claim's words needs only the second and third.
    """
    claimed = claim_wording(claim, exchange.answer)
    for index, document in enumerate(exchange.context):
        for statement in _nearest_statements(claim, document):
            own = Wording(document.text, statement.own_spans)
            parents = [Wording(document.text, [span]) for span in statement.parent_spans]
            if _states(claimed, own, parents):
                return index, token_span(document.text, own.tokens)
    return None


def _kind(text: PreparedText, n: int, is_in_name: bool) -> WordKind:
    parse, lexicon, words = text.parse, text.lexicon, text.lexicon.claims
    both = {parse.text[n], parse.lemma[n]}
    if both & (lexicon.negations | words.implicit_negations) or parse.text[n].endswith("n't"):
        return WordKind.NEGATION
    if both & words.required or parse.dep[n] == "prt" or _is_have_to(text, n):
        return WordKind.REQUIRED
    if any(map(str.isdigit, parse.text[n])) or parse.text[n] in words.numbers:
        return WordKind.NUMBER
    if _LETTER.search(text.original, int(parse.start[n]) - 2, int(parse.end[n])):
        return WordKind.CONTENT
    light = lexicon.function_words if is_in_name else lexicon.function_words | words.light
    return WordKind.LIGHT if both & light else WordKind.CONTENT


def _is_have_to(text: PreparedText, n: int) -> bool:
    """Return whether a word is the "have" of "have to"."""
    parse, lexicon = text.parse, text.lexicon
    if parse.lemma[n] not in lexicon.claims.have or n + 1 == len(parse):
        return False
    return parse.pos[n + 1] == "PART" and parse.text[n + 1] not in lexicon.negations


def _forms(text: PreparedText, n: int, is_separated: bool) -> Iterator[str]:
    word, lemma, lexicon = text.parse.text[n], text.parse.lemma[n], text.lexicon
    if _is_have_to(text, n):
        yield _OBLIGATION
        return
    if word in lexicon.claims.numbers:
        yield str(lexicon.claims.numbers[word])
    if number := parse_number(word):
        yield from (f"{value.normalize():f}" for value in number.values)
    for form in (lemma,) if is_separated else (word, lemma):
        yield from (form, lexicon.stem(form.replace("-", "")))


def _nearest_statements(claim: Claim, document: PreparedPassage) -> list[DocumentStatement]:
    """Return the statements of a document with most words of a claim."""
    sentences, statements = document.text.cached(sentence_index), document.text.cached(document_statements)
    starts = [statement.own_spans[0][0] for statement in statements]
    by_sentence = np.searchsorted(starts, [start for start, _ in sentences.spans], side="right") - 1
    counts = Counter(
        index
        for word in claim.words
        for index in np.unique(by_sentence[sentences.match_levels(word) > 0]).tolist()
    )
    return [statements[index] for index, _ in counts.most_common(_MAX_STATEMENTS)]


def _states(claimed: Wording, statement: Wording, parents: Sequence[Wording]) -> bool:
    matches = dict[int, Sequence[int]]()
    needed = set[Wording]()
    for index, kind in enumerate(claimed.kinds):
        if kind in (WordKind.LIGHT, WordKind.NEGATION):
            continue
        if found := statement.find(claimed, index):
            matches[index] = found
        elif kind is WordKind.CONTENT and (known := [each for each in parents if each.find(claimed, index)]):
            needed.update(known)
        else:
            return False
    if sum(claimed.kinds[index] is WordKind.CONTENT for index in matches) < _MIN_CONTENT_WORDS:
        return False
    if not _is_asserted(claimed, statement) or any(_denies(each, each in needed) for each in parents):
        return False
    if _has_same_words(claimed, statement):
        return True
    nearest = _nearest_matches(matches)
    exchanged_roles = sum(not _has_role(claimed, statement, *pair) for pair in nearest.items())
    return (
        _has_same_negations(claimed, statement, matches)
        and _has_whole_names(claimed, [statement, *parents])
        and _has_same_subject(statement, matches)
        and _has_same_columns(statement, nearest.values())
        and _is_one_part(statement, nearest.values())
        and _keeps_order(claimed, matches)
        and exchanged_roles < _MIN_EXCHANGED_ROLES
        and _has_same_directions(claimed, statement, nearest)
        and not _exchanges_parts(claimed, statement, matches)
    )


def _has_same_words(claimed: Wording, statement: Wording) -> bool:
    own, others = ([wording.text.parse.text[n] for n in wording.tokens] for wording in (claimed, statement))
    return own == others


def _denies(parent: Wording, is_needed: bool) -> bool:
    """Return whether the lead of a list, or a heading that a claim has words of, has a negation."""
    start, end = parent.spans[0]
    is_lead = parent.text.original[start:end].rstrip(_AFTER_QUESTION).endswith(":")
    return (is_needed or is_lead) and bool(parent.of_kind(WordKind.NEGATION))


def _has_same_subject(statement: Wording, matches: WordMatches) -> bool:
    """Return whether the claim has all significant words of the subject of each verb that it has."""
    parse = statement.text.parse
    known = {match for found in matches.values() for match in found}
    indices = {n: index for index, n in enumerate(statement.tokens)}
    for index, n in enumerate(statement.tokens):
        if index in known or not statement.is_significant(index):
            continue
        token, seen = n, set[int]()
        while token in indices and token not in seen:
            seen.add(token)
            head = int(parse.head[token])
            if parse.dep[token] in _SUBJECTS:
                verb = indices.get(head)
                if verb is None or verb in known or not statement.is_significant(verb):
                    return False
            token = head
    return True


def _has_same_columns(statement: Wording, matches: Collection[int]) -> bool:
    """Return whether a claim with the header of a column of a row has a cell of no other column."""
    if len(statement.spans) == 1:
        return True
    original, (row, header) = statement.text.original, statement.spans
    cells, headers = defaultdict[int, set[str]](set), defaultdict[int, set[str]](set)
    named, taken = list[tuple[int, set[str]]](), set[int]()
    for index, n in enumerate(statement.tokens):
        at = int(statement.text.parse.start[n])
        is_header = header[0] <= at < header[1]
        column = original.count("|", header[0] if is_header else row[0], at)
        (headers if is_header else cells)[column] |= statement.forms[index]
        if index in matches:
            if is_header:
                named.append((column, statement.forms[index]))
            elif column > 1:
                taken.add(column)
    own = {
        column
        for column, forms in named
        if all(forms.isdisjoint(others) for other, others in headers.items() if other != column)
    }
    return not own or taken <= own


def _nearest_matches(matches: WordMatches) -> Mapping[int, int]:
    """Return one match of each word, all within the shortest stretch of the statement."""
    stretches = list[dict[int, int]]()
    for start in sorted({match for found in matches.values() for match in found}):
        later = {index: [match for match in found if match >= start] for index, found in matches.items()}
        if all(later.values()):
            stretches.append({index: found[0] for index, found in later.items()})
    return min(stretches, key=lambda stretch: max(stretch.values()) - min(stretch.values()))


def _is_asserted(claimed: Wording, statement: Wording) -> bool:
    """Return whether a statement is no question, and has no hedge or limit that the claim lacks."""
    start, end = statement.spans[0]
    is_question = statement.text.original[start:end].rstrip(_AFTER_QUESTION).endswith("?")
    return (
        not is_question and statement.hedges() <= claimed.hedges() and statement.limits() <= claimed.limits()
    )


def _has_same_negations(claimed: Wording, statement: Wording, matches: WordMatches) -> bool:
    """Return whether there are as many negations, each next to the same word or of the same word.

    Where there are any, the statement has no other words: which of several things is denied is more than a
    parse tells.
    """

    def is_same(own: int | None, other: int | None) -> bool:
        if own is None or other is None:
            return own is other
        both = claimed.kinds[own], statement.kinds[other]
        return other in matches.get(own, ()) or both == (WordKind.NEGATION, WordKind.NEGATION)

    def is_alike(own: int, other: int) -> bool:
        heads = claimed.head(own), statement.head(other)
        neighbours = zip(
            claimed.significant_neighbours(own), statement.significant_neighbours(other), strict=True
        )
        return (None not in heads and is_same(*heads)) or any(is_same(*pair) for pair in neighbours)

    own, others = claimed.of_kind(WordKind.NEGATION), statement.of_kind(WordKind.NEGATION)
    if not own and not others:
        return True
    said = {match for found in matches.values() for match in found}
    is_covered = all(
        index in said or statement.kinds[index] in (WordKind.LIGHT, WordKind.NEGATION)
        for index in range(len(statement.tokens))
    )
    return is_covered and len(own) == len(others) and all(map(is_alike, own, others))


def _is_one_part(statement: Wording, indices: Collection[int]) -> bool:
    """Return whether few words, no number, and no other direction of the same kind are between the words."""
    if len(statement.spans) > 1:
        return True  # a table row
    between = [
        index
        for index in range(min(indices), max(indices))
        if statement.is_significant(index) and index not in indices
    ]
    if len(between) > _MAX_WORDS_BETWEEN or any(statement.kinds[n] is WordKind.NUMBER for n in between):
        return False
    # Such as "to A, C to B" for "to A ... B".
    return not any(
        statement.directions(right) & statement.directions(index)
        for left, right in pairwise(sorted(set(indices)))
        for index in between
        if left < index < right
    )


def _keeps_order(claimed: Wording, matches: WordMatches) -> bool:
    """Return whether the words of a claim with "before" or "after" occur in its order."""
    words = claimed.text.lexicon.claims.sequence
    if words.isdisjoint(claimed.text.parse.text[n] for n in claimed.tokens):
        return True
    last: int | None = -1
    for index in sorted(matches):
        last = next((match for match in matches[index] if last is not None and match > last), None)
    return last is not None


def _has_whole_names(claimed: Wording, wordings: Sequence[Wording]) -> bool:
    """Return whether words that follow each other in a name of the claim do so in the statement too."""
    return all(
        any(
            match + 1 in wording.find(claimed, index + 1)
            for wording in wordings
            for match in wording.find(claimed, index)
        )
        for index, (name, following) in enumerate(pairwise(claimed.names))
        if name and name == following and claimed.tokens[index + 1] == claimed.tokens[index] + 1
    )


def _has_role(claimed: Wording, statement: Wording, index: int, match: int) -> bool:
    """Return whether a word is not the object of a verb in one text and its subject in the other."""
    parse, n = claimed.text.parse, claimed.tokens[index]
    role = _ROLES.get(parse.dep[n])
    heads = (verb for verb, token in enumerate(claimed.tokens) if token == parse.head[n])
    verbs = {statement.tokens[verb] for head in heads for verb in statement.find(claimed, head)}
    other_parse, token = statement.text.parse, statement.tokens[match]
    other = _ROLES.get(other_parse.dep[token]) if other_parse.head[token] in verbs else None
    return role is None or other is None or role == other


def _has_same_directions(claimed: Wording, statement: Wording, matches: Mapping[int, int]) -> bool:
    """Return whether no word has another direction, nor one that moved to it from another word."""
    pairs = [(claimed.directions(index), statement.directions(match)) for index, match in matches.items()]
    if any(own and other and not own & other for own, other in pairs):
        return False
    is_lost = any(own and not other for own, other in pairs)
    return not (is_lost and any(other and not own for own, other in pairs))


def _exchanges_parts(claimed: Wording, statement: Wording, matches: WordMatches) -> bool:
    """Return whether two parts of a claim are both spread over parts of the statement that they share."""
    parts, other_parts = claimed.part_numbers(), statement.part_numbers()
    sources = defaultdict[int, set[int]](set)
    spread = defaultdict[int, set[int]](set)
    for index, (first, *more) in matches.items():
        if not more:
            sources[other_parts[first]].add(parts[index])
            spread[parts[index]].add(other_parts[first])
    return any(sum(len(spread[part]) > 1 for part in mixed) > 1 for mixed in sources.values())
