"""The typed content of a lexicon."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from scoring.lexicon.phrases import PhraseList
from scoring.values.exchange import MessageType

_MIN_STEM = 4


@dataclass(frozen=True, slots=True)
class MessageTypePatterns:
    """Phrases that mark one message type; a type may have several such lists.

    A hit within one of the ``exceptions`` does not count: "what is" marks a general question, but not in
    "what is the cause". ``in_statements``: hits in questions ("... was rejected?") do not count.
    """

    type: MessageType
    phrases: PhraseList
    exceptions: PhraseList
    in_statements: bool = False

    def hits(self, words: Sequence[str], clause_starts: Collection[int]) -> Iterator[tuple[int, int]]:
        """Yield the word range (start, end) of every hit outside the exceptions."""
        exceptions = list(self.exceptions.find(words, clause_starts))
        starts = [start for start, _ in exceptions]
        for start, end in self.phrases.find(words, clause_starts):
            before = bisect_right(starts, start)
            if not before or exceptions[before - 1][1] < end:
                yield start, end


@dataclass(frozen=True, slots=True)
class RefusalWords:
    """How an answer says that it has no answer.

    ``phrases`` refuse ("could not find"); ``advice`` may accompany them ("contact support"); ``words`` may
    occur in both without claiming anything about the product; ``contrasts`` start another statement ("but");
    ``verdicts`` are one-word answers ("yes").
    """

    phrases: PhraseList
    advice: PhraseList
    words: frozenset[str]
    contrasts: frozenset[str]
    verdicts: frozenset[str]


@dataclass(frozen=True, slots=True)
class ClaimWords:
    """Small words that show what a sentence of an answer claims.

    Kinds of claims:

    - ``speakers``: the writer ("I"); ``sources``: the documents ("documentation"); either with a negation
      refuses.
    - ``courtesies``: words of greetings, wishes and offers of help; ``wishes``: openings of such sentences.
    - ``numbers``: words for 2, 3, 4 and so on, with their values.

    Comparing a claim with a sentence:

    - ``light``: words that the sentence may lack; ``required``: words that it must have ("only", "before").
    - ``directions``: prepositions that reverse a relation ("from", "to"); ``conjunctions`` join parts
      ("and").
    - ``implicit_negations``: words that deny like "not" ("impossible", "fail").
    - ``hedges``: words with which a sentence does not assert ("if", "plan", "whether"), unless one of
      ``purposes`` follows ("if you want"). ``limits``: words that limit what it says or take it back
      ("only", "until", "instead"). ``sequence``: words that make the order matter ("before").

    Claimed actions ("I have reset it"):

    - ``writers``: the writer; ``have``: the perfect auxiliary; ``past``: past tense forms; ``passives``: past
      passives ("has been deleted"); ``done``: openings that claim an action.
    - ``we`` and ``ours``: the writer's side ("our team"); ``yours``: the customer's possessions.
    - ``verbal_actions``: what words alone can do ("look up"); ``verbal_results``: their results ("overview");
      ``non_actions``: words that rule an action out ("if", "not").
    - ``writing``: texts that a customer may ask for, which speak as the customer.
    """

    speakers: frozenset[str]
    sources: frozenset[str]
    courtesies: frozenset[str]
    numbers: Mapping[str, int]
    light: frozenset[str]
    required: frozenset[str]
    directions: frozenset[str]
    conjunctions: frozenset[str]
    implicit_negations: frozenset[str]
    hedges: frozenset[str]
    limits: frozenset[str]
    purposes: frozenset[str]
    sequence: frozenset[str]
    writers: frozenset[str]
    have: frozenset[str]
    verbal_actions: frozenset[str]
    verbal_results: frozenset[str]
    non_actions: frozenset[str]
    we: frozenset[str]
    ours: frozenset[str]
    yours: frozenset[str]
    past: PhraseList
    passives: frozenset[str]
    writing: frozenset[str]
    done: PhraseList
    wishes: PhraseList


@dataclass(frozen=True, slots=True, eq=False)
class SendingWords:
    """The closed lists that allow an answer to be sent without review.

    A question that is a title (:func:`scoring.quotation.quoted_document.quoted_document`):

    - ``openers``: the words before the title, one of which may be ``*``: a finite verb whose infinitive ends
      the title. ``deeds``: the base form of each form of the verbs in titles.
    - ``greetings``: single words before the opener.
    - ``articles``: one of them begins the title of an action, or follows its verb ("Delete a draft").

    ``references``: words of a question that is not understood without what was said before it
    (:func:`scoring.scorer.standalone_question.is_standalone`).

    Courtesies, as whole sentences without punctuation (:class:`scoring.features.quotation.Courtesy`): a
    customer's ``thanks`` and the ``welcomes`` that return them, ``hellos`` and their ``replies``.
    """

    openers: tuple[tuple[str, ...], ...]
    deeds: Mapping[str, str]
    greetings: frozenset[str]
    articles: frozenset[str]
    references: frozenset[str]
    thanks: frozenset[str]
    welcomes: frozenset[str]
    hellos: frozenset[str]
    replies: frozenset[str]


@dataclass(frozen=True, slots=True)
class ClockWords:
    """Words around times of day.

    ``hours`` follow figures ("14.00 uur"); ``mornings`` and ``afternoons`` tell the half of the day ("am",
    "'s middags" without its "'s"); ``at`` precedes an hour that is no duration ("om 14 uur"). ``past`` and
    ``to`` join minutes and hour ("ten to five"), ``halves`` precede the hour half an hour away ("half tien").
    ``noons`` and ``midnights`` are times by themselves.
    ``opens`` and ``since`` mark the first of opening hours, ``closes`` and ``until`` the last.
    """

    hours: frozenset[str] = frozenset()
    mornings: frozenset[str] = frozenset()
    afternoons: frozenset[str] = frozenset()
    at: frozenset[str] = frozenset()
    past: frozenset[str] = frozenset()
    to: frozenset[str] = frozenset()
    halves: frozenset[str] = frozenset()
    noons: frozenset[str] = frozenset()
    midnights: frozenset[str] = frozenset()
    opens: frozenset[str] = frozenset()
    since: frozenset[str] = frozenset()
    closes: frozenset[str] = frozenset()
    until: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class NumberWords:
    """Number words, besides ``ClaimWords.numbers``.

    ``words``: by the number that they mean, "1/4" for a quarter; ``units``: besides those for figures;
    ``periods``: frequencies by their unit of time ("monthly"); ``articles`` may mean one ("a week");
    ``joiners`` occur within a number, ``ratios`` between the numbers of a share ("3 out of 4").
    """

    articles: frozenset[str] = frozenset()
    joiners: frozenset[str] = frozenset()
    ratios: tuple[str, ...] = ()
    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    units: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    periods: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class FigureWords:
    """The lexicon's table ``[figures]``.

    How numbers are written:

    - ``decimal_sign``: the usual decimal separator; ``day_first``: 03-04-2024 is in April.
    - ``months``: the names of each month.
    - ``units``: words by unit; ``scales``: words by power of ten.

    What is claimed of figures:

    - ``computed``: words next to a figure that was computed from others ("in total", "more", "on average");
      ``unclear``: what may mean that ("second").
    - ``counts``: state how many there are; ``all_of``: every row.
    - ``about``, ``above``, ``at_least``, ``below``, ``at_most``: bounds on the figure right after them.
    - ``of``: precedes the whole of a share.

    Other words:

    - ``totals``: labels of a total; ``per``: precedes the unit of a rate.
    - ``prices``: words that only say that something costs an amount.
    - ``kinds``: generic nouns next to a name ("plan").
    - ``examples``: a list is incomplete.
    - ``yes``, ``no``: values of a cell, and words that only say that something is there or not.
    - ``conditions``: restrict a statement to some cases; ``pointing``: refer to something said before.
    - ``same``: groups of synonyms ("price", "costs").
    - ``fillers``: words that change nothing about a figure.
    """

    decimal_sign: str
    day_first: bool
    computed: PhraseList
    counts: PhraseList
    unclear: PhraseList
    about: PhraseList
    above: PhraseList
    at_least: PhraseList
    below: PhraseList
    at_most: PhraseList
    all_of: PhraseList
    examples: PhraseList
    of: frozenset[str]
    kinds: frozenset[str]
    totals: frozenset[str]
    per: frozenset[str]
    prices: frozenset[str]
    conditions: frozenset[str]
    pointing: frozenset[str]
    yes: frozenset[str]
    no: frozenset[str]
    fillers: frozenset[str]
    months: tuple[tuple[str, ...], ...]
    same: tuple[tuple[str, ...], ...]
    units: Mapping[str, tuple[str, ...]]
    scales: Mapping[str, tuple[str, ...]]

    @cached_property
    def unit_of(self) -> Mapping[str, str]:
        """The unit of each word."""
        return {word: unit for unit, words in self.units.items() for word in words}

    @cached_property
    def power_of(self) -> Mapping[str, int]:
        """The power of ten of each word."""
        return {word: int(power) for power, words in self.scales.items() for word in words}

    @cached_property
    def month_of(self) -> Mapping[str, int]:
        """The month's number, from 1, of each word."""
        return {word: number for number, words in enumerate(self.months, 1) for word in words}

    @cached_property
    def canonical_word_of(self) -> Mapping[str, str]:
        """The first word of the synonym group of each word."""
        return {word: group[0] for group in self.same for word in group}


@dataclass(frozen=True, slots=True, eq=False)
class Lexicon:
    """The word lists of one language (all words casefolded).

    - ``message_types``: the first list with a hit gives the type; ``if_question`` and ``if_statement`` are
      the types where none hits.
    - ``greetings``, ``closings``: phrases that open or close a message without content.
    - ``features``: phrases of single features, by feature name and list name.
    - ``refusal``, ``claims``, ``clock``, ``numbers``: see their classes.
    - ``figures``: None where computed figures are not checked.
    - ``sending``: None where nothing is sent without a judge or ratings.
    - ``function_words``: words without content; ``fillers``: words by which two equal steps may differ.
    - ``negations``: words that reverse a statement.
    - ``emphasis``: bold text that names no component.
    - ``action_verbs``: precede a component ("click Save"); ``instruction_verbs``: open a step's title;
      ``component_nouns``: accompany one ("the Save button"); ``path_openers``: precede a menu path ("go to A
      > B"); ``keys``: keys of a keyboard.
    - ``step_words``: number a step ("Step 2:"); ``plural_endings``: stripped to compare.
    - ``error_nouns``: precede an error code ("error 404").
    - ``neighbours``: frequent words of neighbouring languages that this one lacks.
    """

    language: str
    message_types: tuple[MessageTypePatterns, ...]
    if_question: MessageType
    if_statement: MessageType
    greetings: PhraseList
    closings: PhraseList
    features: Mapping[str, Mapping[str, PhraseList]]
    refusal: RefusalWords
    claims: ClaimWords
    function_words: frozenset[str]
    fillers: frozenset[str]
    negations: frozenset[str]
    emphasis: PhraseList
    action_verbs: frozenset[str]
    instruction_verbs: frozenset[str]
    component_nouns: frozenset[str]
    path_openers: frozenset[str]
    keys: frozenset[str]
    step_words: frozenset[str]
    error_nouns: frozenset[str]
    neighbours: frozenset[str]
    plural_endings: tuple[str, ...]
    figures: FigureWords | None = None
    clock: ClockWords = ClockWords()
    numbers: NumberWords = NumberWords()
    sending: SendingWords | None = None

    @property
    def figure_words(self) -> FigureWords:
        """The words for figures, for callers that have checked that the language has them."""
        assert self.figures is not None
        return self.figures

    def stem(self, word: str) -> str:
        """Strip a plural ending where at least four letters remain; "process" has none."""
        if word.endswith("ss"):
            return word
        for ending in self.plural_endings:
            if word.endswith(ending) and len(word) - len(ending) >= _MIN_STEM:
                return word[: -len(ending)]
        return word
