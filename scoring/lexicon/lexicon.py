"""The typed content of a lexicon."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from scoring.lexicon.phrases import FigureWords, PhraseList
from scoring.values.exchange import MessageType

_SHORTEST_STEM = 4


@dataclass(frozen=True, slots=True)
class MessageTypePatterns:
    """The phrases that mark one message type; a type may have several such lists.

    A hit within one of the ``exceptions`` is none: "what is" marks a general question, but not in
    "what is the cause". ``in_statements``: what is asked ("... was rejected?") does not count.
    """

    type: MessageType
    phrases: PhraseList
    exceptions: PhraseList
    in_statements: bool = False

    def hits(self, words: Sequence[str], clause_starts: Collection[int]) -> Iterator[tuple[int, int]]:
        """Yield (first, after the last) word index of every hit that is no exception."""
        excepted = list(self.exceptions.find(words, clause_starts))
        starts = [start for start, _ in excepted]
        for first, last in self.phrases.find(words, clause_starts):
            before = bisect_right(starts, first)
            if not before or excepted[before - 1][1] < last:
                yield first, last


@dataclass(frozen=True, slots=True)
class RefusalWords:
    """How an answer says that it has none.

    ``phrases`` say so ("could not find"); ``advice`` may stand beside it ("contact support");
    ``words`` are what both speak of without saying anything of the product; ``contrasts`` begin
    something else ("but"); ``verdicts`` are the answers of one word ("yes").
    """

    phrases: PhraseList
    advice: PhraseList
    words: frozenset[str]
    contrasts: frozenset[str]
    verdicts: frozenset[str]


@dataclass(frozen=True, slots=True)
class ClaimWords:
    """The small words that tell what a sentence of an answer claims.

    ``speakers``: words for who answers ("I"); ``sources``: what an answer calls the documents that it
    rests on ("documentation"): beside a negation either says that there is no answer. ``courtesies``: what
    greetings, wishes and offers of help are made of. ``numbers``: words for 2, 3, 4 and so on, with these.

    How a claim is compared with one sentence: words of ``light`` say so little that the sentence need not
    have them, and those of ``agreeing`` so much ("only", "must", "before") that it must have each itself.
    ``directions``: small words that turn what follows them around ("from", "to"); ``joints`` begin another
    part of a sentence ("and"). ``denials`` are words that deny as "not" does ("impossible", "fail"), beside
    the negations; with one of ``withheld`` ("if", "plan", "whether") a sentence does not assert what it
    says, unless one of ``purposes`` follows ("if you want"); with one of ``sequence`` ("before") the order
    of its words matters.

    What lays claim to a deed ("I have reset it"): ``writers`` are who answers, ``have`` the verb of the
    perfect tense, ``deeds_of_words`` the verbs for what words alone can do ("look up", "list") and
    ``works_of_words`` what they make ("overview"), ``no_deeds`` words with which a sentence tells of none
    ("if", "not"); ``done`` is how an answer opens that says so at once. ``together`` and ``ours`` are those
    for whom a writer writes ("we", "our team"), ``yours`` what says that something is the customer's,
    ``past`` the forms of the past tense, and ``passives`` what makes a passive of the past ("has been
    deleted"). ``writing`` is what a customer asks for who wants a text, which speaks of the customer.

    ``wishes`` open a sentence that only wishes well or offers help.
    """

    speakers: frozenset[str]
    sources: frozenset[str]
    courtesies: frozenset[str]
    numbers: Mapping[str, int]
    light: frozenset[str]
    agreeing: frozenset[str]
    directions: frozenset[str]
    joints: frozenset[str]
    denials: frozenset[str]
    withheld: frozenset[str]
    purposes: frozenset[str]
    sequence: frozenset[str]
    writers: frozenset[str]
    have: frozenset[str]
    deeds_of_words: frozenset[str]
    works_of_words: frozenset[str]
    no_deeds: frozenset[str]
    together: frozenset[str]
    ours: frozenset[str]
    yours: frozenset[str]
    past: PhraseList
    passives: frozenset[str]
    writing: frozenset[str]
    done: PhraseList
    wishes: PhraseList


@dataclass(frozen=True, slots=True, eq=False)
class SendingWords:
    """The closed lists by which an answer may be sent without a person.

    A question that is a title (:func:`scoring.quotation.quoted_document.quoted_document`):

    - ``openers``: the words before the title, one of which may be ``*``: a finite verb that the title has
      at its end, as an infinitive. ``deeds`` has the base form of each form of the verbs that titles have.
    - ``greetings``: single words before the opener.
    - ``articles``: one of them begins a title that tells a deed, or follows its verb ("Delete a draft").

    Courtesies, as whole sentences without their signs (:class:`scoring.features.courtesy.Courtesy`):
    ``thanks`` of a customer and ``welcomes`` in reply, ``hellos`` and ``replies``.
    """

    openers: tuple[tuple[str, ...], ...]
    deeds: Mapping[str, str]
    greetings: frozenset[str]
    articles: frozenset[str]
    thanks: frozenset[str]
    welcomes: frozenset[str]
    hellos: frozenset[str]
    replies: frozenset[str]


@dataclass(frozen=True, slots=True)
class ClockWords:
    """The words with times of day.

    ``hours`` follow the figures ("14.00 uur"), ``mornings`` and ``afternoons`` tell which half of the day
    ("am", "'s middags" without its "'s"), and ``at`` stands before an hour that is no duration ("om 14 uur").
    ``past`` and ``to`` stand between minutes and hour ("ten to five"), and ``halves`` before the hour that is
    half an hour away ("half tien").
    ``opens`` and ``since`` tell the first of opening hours, ``closes`` and ``until`` the last.
    """

    hours: frozenset[str] = frozenset()
    mornings: frozenset[str] = frozenset()
    afternoons: frozenset[str] = frozenset()
    at: frozenset[str] = frozenset()
    past: frozenset[str] = frozenset()
    to: frozenset[str] = frozenset()
    halves: frozenset[str] = frozenset()
    opens: frozenset[str] = frozenset()
    since: frozenset[str] = frozenset()
    closes: frozenset[str] = frozenset()
    until: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class NumberWords:
    """The words in which numbers are told, beside ``ClaimWords.numbers``.

    ``words`` by the number that they are, with "1/4" for a quarter; ``units``, beside those of the figures,
    by what they are; ``periods`` tell for which unit of time something is ("monthly"); ``articles`` may be a
    one ("a week"), ``joiners`` stand within a number, and ``ratios`` between the numbers of a share ("3 out
    of 4").
    """

    articles: frozenset[str] = frozenset()
    joiners: frozenset[str] = frozenset()
    ratios: tuple[str, ...] = ()
    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    units: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    periods: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Lexicon:
    """The word lists of one language (all words casefolded).

    - ``message_types``: in order, the first list with a hit gives the type; ``if_question`` and
      ``if_statement`` are the types where none hits.
    - ``greetings``, ``closings``: phrases that open or close a message without saying anything.
    - ``features``: phrases that one feature alone looks for, by its name and the name of their list.
    - ``refusal``: how an answer says that it has none.
    - ``claims``: what tells the claims of an answer from what it says besides.
    - ``figures``: how a clause says that a figure follows from others; None where that is not checked.
    - ``clock``: the words with times of day; without it those with a colon alone are read.
    - ``numbers``: words for numbers and their units; without it those in digits alone are compared.
    - ``sending``: by what an answer may be sent; None where nothing is, without a judge or ratings.
    - ``function_words``: words that carry no content;
      ``fillers`` may differ between two steps that say the same.
    - ``negations``: words that turn what is said into its opposite.
    - ``emphasis``: what authors mark bold without naming a component.
    - ``action_verbs``: precede a component ("click Save"); ``instruction_verbs``: open a step's
      title; ``component_nouns``: stand beside one ("the Save button"); ``path_openers``: precede a
      menu path ("go to A > B"); ``keys``: keys of a keyboard.
    - ``step_words``: number a step ("Step 2:"); ``plural_endings``: stripped to compare.
    - ``error_nouns``: stand before a number that is an error code ("error 404").
    - ``neighbours``: frequent words of neighbouring languages that this one does not have.
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
        """The words for figures of a language that has them: no other is asked."""
        assert self.figures is not None, "only a lexicon with figures is asked"
        return self.figures

    def stem(self, word: str) -> str:
        """Strip a plural ending where enough of the word stays; "process" has none."""
        if word.endswith("ss"):
            return word
        for ending in self.plural_endings:
            if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
                return word[: -len(ending)]
        return word
