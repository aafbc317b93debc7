"""The records of the contract as typed values; the ``.avsc`` files in this folder define them.

The annotated types have limits that Avro cannot express (lengths, ranges); ``schemas.validation`` checks them
for every incoming value, whatever its encoding.
"""

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Annotated, Final, Literal

from pydantic import AwareDatetime, FailFast, Field, FiniteFloat, PlainSerializer

MAX_ID_LENGTH = 256
MAX_ADDRESS_LENGTH = 2_048
MAX_ITEMS = 1_000
#: A millionth of a millionth was drawn; squares of weights are added up.
MAX_SAMPLING_WEIGHT = 1e12
"""Passages, references or metadata of one answer: far above any prompt, and a bound on the work.
The lists fail at the first bad item (``FailFast``): a value may hold 260,000 of them per MiB."""

EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
LATEST = datetime(9999, 12, 30, tzinfo=UTC)
"""A day short of what ``datetime`` holds, so that no change of time zone leaves its range."""


def rfc3339(instant: datetime) -> str:
    """Write an aware datetime in UTC, such as ``2026-03-02T09:15:00Z``."""
    return instant.astimezone(UTC).isoformat().removesuffix("+00:00") + "Z"


Identifier = Annotated[str, Field(min_length=1, max_length=MAX_ID_LENGTH)]
ShortText = Annotated[str, Field(max_length=MAX_ID_LENGTH)]
Url = Annotated[str, Field(max_length=MAX_ADDRESS_LENGTH)]
Timestamp = Annotated[
    AwareDatetime, Field(strict=True, ge=EARLIEST, le=LATEST), PlainSerializer(rfc3339, when_used="json")
]
DocumentIds = Annotated[tuple[Identifier, ...], FailFast(), Field(max_length=MAX_ITEMS)]
Metadata = Annotated[Mapping[str, str], Field(max_length=MAX_ITEMS)]
Rating = Annotated[int, Field(ge=1, le=5)]
#: A rating, or the mean of several reviewers' ratings.
MeanRating = Annotated[float, Field(ge=1, le=5, allow_inf_nan=False)]
TruthLabel = Literal["TRUE", "FALSE", "NOT_GIVEN"]
"""What an answer is: true, untrue, or declining or about something else."""
ExpectedAnswer = Annotated[str, Field(min_length=1)]
ReasonText = Annotated[str, Field(min_length=1, max_length=1_000)]
Offset = Annotated[int, Field(ge=0, lt=2**31)]
Count = Annotated[int, Field(ge=0, lt=2**63)]


@dataclass(frozen=True, slots=True)
class ContextPassage:
    """A passage of a help document that the chatbot was given with the question."""

    document_id: Identifier
    text: str
    title: str | None = None
    score: FiniteFloat | None = None


AnswerContext = Annotated[tuple[ContextPassage, ...], FailFast(), Field(max_length=MAX_ITEMS)]


@dataclass(frozen=True, slots=True)
class ChatbotAnswer:
    """One answer of the chatbot, to be judged (topic ``answers``)."""

    answer_id: Identifier
    conversation_id: Identifier
    question: str
    answer: str
    produced_at: Timestamp
    context: AnswerContext = ()
    document_ids: DocumentIds = ()
    language: ShortText | None = None
    model: ShortText | None = None
    metadata: Metadata = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RatedAnswer:
    """What people say of an answer's truthfulness and of its question's type; no topic carries it.

    ``rating`` is what counts: a reviewer's, the mean of several, or the one that they settled on.
    ``rating_first`` and ``rating_second`` are those of two reviewers, to compare with each other; without a
    first one, ``rating`` is it. ``consistent`` is whether all of it is in the documents, ``relevant`` whether
    it addresses the question. ``expected_answer`` is a right answer, to compare this one with.
    """

    answer: ChatbotAnswer
    rating: MeanRating | None = None
    rating_first: MeanRating | None = None
    rating_second: MeanRating | None = None
    message_type: ShortText | None = None
    label: TruthLabel | None = None
    consistent: bool | None = None
    relevant: bool | None = None
    expected_answer: ExpectedAnswer | None = None


@dataclass(frozen=True, slots=True)
class KnowledgeDocument:
    """One help document in one language (topic ``documents``, compacted).

    ``auto_send`` is its publisher's word that all of it may be sent to a customer, without a person, in
    reply to a question that is its title.
    """

    document_id: Identifier
    language: Identifier
    title: str
    text: str
    updated_at: Timestamp
    url: str | None = None
    auto_send: bool = False


@dataclass(frozen=True, slots=True)
class VerdictEvidence:
    """A span of the answer that explains a feature's value; offsets are in characters."""

    kind: str
    text: str
    start: Offset
    end: Offset
    document_id: str | None = None


@dataclass(frozen=True, slots=True)
class VerdictFeature:
    """One feature of the scorer: a value in [0, 1], or None where it does not apply."""

    name: str
    value: FiniteFloat | None
    evidence: tuple[VerdictEvidence, ...] = ()


@dataclass(frozen=True, slots=True)
class VerdictPassage:
    """A passage that an answer was judged against.

    ``version`` names the document's version (None for a passage that the answer brought), ``score`` is that
    of the search that found it, ``start`` and ``end`` are characters of the document's text. ``title`` and
    ``url`` are the document's, so far as they fit. ``relevance`` to the question is in [-1, 1]; where none
    reaches ``relevance_floor``, the context is insufficient. What a search gives is None without one.
    """

    document_id: str
    version: str | None = None
    score: FiniteFloat | None = None
    start: Offset | None = None
    end: Offset | None = None
    title: ShortText | None = None
    url: Url | None = None
    relevance: FiniteFloat | None = None
    relevance_floor: FiniteFloat | None = None


@dataclass(frozen=True, slots=True)
class VerdictOpinion:
    """What a language model said of an answer, asked by one method.

    ``label`` is ``TRUE``, ``FALSE`` or ``NOT_GIVEN``, or None with the reason in ``unsure``; ``confidence``
    is in [0, 1] and ``score`` in [1, 5]. ``evidence`` are the wrong words of the answer, by kind of mistake.
    ``seconds`` is how long it took, and ``cost`` is in the currency of the prices that are set.
    """

    method: str
    models: tuple[str, ...]
    prompt_version: str
    label: str | None
    confidence: FiniteFloat
    score: FiniteFloat | None = None
    unsure: str | None = None
    mistakes: tuple[str, ...] = ()
    evidence: tuple[VerdictEvidence, ...] = ()
    shortened: bool = False
    requests: Offset = 0
    tokens_in: Count = 0
    tokens_out: Count = 0
    seconds: FiniteFloat = 0.0
    cost: FiniteFloat | None = None


@dataclass(frozen=True, slots=True)
class VerdictClaimSource:
    """The passage that a claim was compared with: ``text`` is ``[start, end)`` of the document's text."""

    document_id: str
    version: str | None
    text: str
    start: Offset
    end: Offset


@dataclass(frozen=True, slots=True)
class VerdictSpan:
    """A span of the answer: ``[start, end)``."""

    start: Offset
    end: Offset


@dataclass(frozen=True, slots=True)
class VerdictClaim:
    """A clause or list step of an answer, ``answer[start:end] == text``, and what the documents say of it.

    ``status`` is ``supported``, ``similar``, ``contradicted``, ``not_found`` or ``not_checkable``;
    ``mistake`` is the kind of the mistake, a stable code. ``support`` is in [0, 1]. ``derivation``: how the
    figure it is about follows from those of the passage. ``lacking``: numbers and names that the documents
    lack, negations that the passage lacks. ``decided_by`` is ``words``, ``verifier`` or ``judge``.
    """

    text: str
    start: Offset
    end: Offset
    status: str
    decided_by: str
    mistake: str | None = None
    support: FiniteFloat | None = None
    source: VerdictClaimSource | None = None
    derivation: str | None = None
    lacking: tuple[VerdictSpan, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What truthgate decided about one answer (topics ``verdicts.*``).

    ``decision`` is ``auto_send``, ``review`` or ``blocked``; ``verdict_id`` is derived from
    ``answer_id``, so a repeated delivery carries the same id. ``model`` and ``metadata`` are the answer's.
    ``context_source`` is ``inline``, ``by_id``, ``retrieved`` or ``none``; ``context`` is in the order of
    ``context_ids``. ``missing_context_ids`` are the first twenty documents that the answer names and that
    were not there. ``claims`` are those of the answer, in its order, so far as they fit; ``support``,
    ``contradiction`` and ``faithfulness``, in [0, 1], are of all of them, None where nothing was checked.
    ``opinions`` are those of language models, in the order in which they were asked. ``known_answer_key`` is
    equal for answers that are decided alike (:class:`KnownAnswer`).
    """

    verdict_id: Identifier
    answer_id: Identifier
    conversation_id: Identifier
    decision: str
    reasons: tuple[str, ...]
    score: FiniteFloat | None
    profile: str
    message_type: str
    language: ShortText | None
    translated: bool
    question: str
    answer: str
    model: ShortText | None = None
    metadata: Metadata = field(default_factory=dict)
    context_source: str
    context_ids: tuple[str, ...]
    missing_context_ids: tuple[str, ...] = ()
    context: tuple[VerdictPassage, ...] = ()
    features: tuple[VerdictFeature, ...]
    claims: tuple[VerdictClaim, ...] = ()
    support: FiniteFloat | None = None
    contradiction: FiniteFloat | None = None
    faithfulness: FiniteFloat | None = None
    opinions: tuple[VerdictOpinion, ...] = ()
    known_answer_key: Identifier | None = None
    degraded: tuple[str, ...]
    policy_version: str
    scorer_version: str
    produced_at: Timestamp
    scored_at: Timestamp


@dataclass(frozen=True, slots=True)
class WrongSpan:
    """A passage of the answer that a reviewer marked as wrong; offsets are in characters."""

    kind: ShortText
    text: str
    start: Offset
    end: Offset


def person_key(name: str) -> str:
    """Return what the names of one person share: Unicode's forms, case and spaces tell nobody apart.

    >>> person_key("Zoë  KIM") == person_key("Zoe\u0308 Kim")
    True
    """
    composed = unicodedata.normalize("NFKC", " ".join(name.split())).casefold()
    return unicodedata.normalize("NFKC", composed)


#: The outcomes of a review with which its ``text`` is sent.
SENDING_OUTCOMES: Final = frozenset({"send", "send_edited"})
PROPOSALS: Final = SENDING_OUTCOMES | {"reject"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """What a person decided about one verdict, or rated it (topic ``reviews``).

    ``outcome`` is ``send``, ``send_edited``, ``reject``, ``expired``, or ``none`` for a rating alone. The
    first record on the partition that ``is_final`` counts for its verdict. ``text`` is what is sent, with
    ``send`` and ``send_edited``. ``source`` is ``desk``, ``known_answer`` or ``external``.
    ``sampling_weight`` is 1 divided by the probability that the answer was chosen for review. ``proposal`` is
    what a reviewer chose where more than one has to; nothing is sent by it.
    """

    review_id: Identifier
    verdict_id: Identifier
    answer_id: Identifier
    conversation_id: Identifier
    produced_at: Timestamp
    outcome: ShortText
    text: str | None = None
    rating: Rating | None = None
    label: ShortText | None = None
    wrong_spans: Annotated[tuple[WrongSpan, ...], FailFast(), Field(max_length=MAX_ITEMS)] = ()
    comment: str | None = None
    reviewer: Identifier
    reviewed_at: Timestamp
    source: ShortText
    sampling_weight: Annotated[FiniteFloat, Field(ge=1, le=MAX_SAMPLING_WEIGHT)] = 1.0
    proposal: ShortText | None = None

    @property
    def person(self) -> str:
        """Who reviewed, whatever way the name is written in."""
        return person_key(self.reviewer)

    @property
    def is_final(self) -> bool:
        """Whether it decides about its verdict, rather than being a rating alone."""
        return self.outcome in {"reject", "expired"} or (self.outcome in SENDING_OUTCOMES and bool(self.text))

    @property
    def is_proposal(self) -> bool:
        """Whether it is one of the reviews that decide about its verdict together."""
        return not self.is_final and self.proposal in PROPOSALS


@dataclass(frozen=True, slots=True)
class RateWindow:
    """How many answers of one message type were judged untrue in one window of event time.

    ``faithfulness_mean`` is the mean of the ``faithfulness_answers`` that have a faithfulness, None where
    there are none.
    """

    window_start: Timestamp
    window_end: Timestamp
    message_type: str
    language: ShortText | None
    answers: Count
    scored: Count
    hallucinated: Count
    auto_sent: Count
    review: Count
    blocked: Count
    rate: FiniteFloat
    rate_low: FiniteFloat
    rate_high: FiniteFloat
    faithfulness_answers: Count
    faithfulness_mean: FiniteFloat | None
    late: Count
    final: bool


@dataclass(frozen=True, slots=True)
class RateAlert:
    """A threshold on the rate of untrue answers that was crossed (topic ``hallucination-alerts``).

    ``status`` is ``firing`` or ``resolved``; both records of one crossing have the same ``alert_id``,
    which is made of the alert's name and ``since``. ``message_type`` and ``language`` are None for all
    together. The counts and the rate are those of the window that changed the status.
    """

    alert_id: Identifier
    alert: str
    status: str
    severity: str
    message_type: str | None
    language: ShortText | None
    window_start: Timestamp
    window_end: Timestamp
    threshold: FiniteFloat
    rate: FiniteFloat
    rate_low: FiniteFloat
    rate_high: FiniteFloat
    scored: Count
    hallucinated: Count
    since: Timestamp
    description: str
    runbook: str


@dataclass(frozen=True, slots=True)
class Pause:
    """An operator pauses or resumes automatic sending (topic ``controls``, compacted).

    ``status`` is ``paused`` or ``resumed``; ``message_type`` and ``language`` None are all of them.
    """

    status: str
    message_type: ShortText | None
    language: ShortText | None
    at: Timestamp
    by: Identifier
    reason: ReasonText


@dataclass(frozen=True, slots=True)
class KnownAnswer:
    """What persons decided about answers with the same key (topic ``known-answers``, compacted).

    ``state`` is ``true``, ``untrue`` or ``ended``. ``verdict_id`` is None if a lead ended it, who is in
    ``reviewers`` then.
    """

    key: Identifier
    state: ShortText
    verdict_id: Identifier | None
    review_ids: Annotated[tuple[Identifier, ...], FailFast(), Field(max_length=MAX_ITEMS)]
    reviewers: Annotated[tuple[Identifier, ...], FailFast(), Field(max_length=MAX_ITEMS)]
    at: Timestamp


Share = Annotated[FiniteFloat, Field(ge=0, le=1)]


@dataclass(frozen=True, slots=True)
class PolicyWeight:
    """The weight of one input of a policy's risk."""

    input: Identifier
    weight: FiniteFloat


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyCertificate:
    """A promise about one decision of a policy.

    ``decision`` is ``auto_send`` or ``blocked``. ``alpha``, ``delta`` and ``missed`` are the promise's,
    ``delta_spent`` is what this certificate has of ``delta``. ``first`` and ``last`` are its period's.
    """

    decision: ShortText
    groups: Annotated[tuple[Identifier, ...], FailFast(), Field(max_length=MAX_ITEMS)]
    threshold: Share
    alpha: Share
    delta: Share
    missed: Share
    delta_spent: Share
    answers: Count
    coverage: Share
    ratings: Count
    mistakes: Count
    estimate: Share
    bound: Share
    first: Timestamp
    last: Timestamp
    data: Identifier
    model: Identifier
    versions: Annotated[tuple[str, ...], FailFast(), Field(max_length=MAX_ITEMS)]
    max_documents_changed: Share


@dataclass(frozen=True, slots=True)
class PolicyCalibrationBin:
    """Ratings of answers of similar risk, and the mistakes among them."""

    risk: Share
    ratings: Count
    mistakes: Count


@dataclass(frozen=True, slots=True)
class PolicyCalibration:
    """How well a fitted risk agrees with ratings that it had not seen: Brier scores, and by risk."""

    ratings: Count
    brier: Share
    brier_score_alone: Share
    brier_constant: Share
    bins: Annotated[tuple[PolicyCalibrationBin, ...], FailFast(), Field(max_length=MAX_ITEMS)]


@dataclass(frozen=True, slots=True)
class PolicyTestedPoint:
    """A threshold that was tested: the share of the answers in its set, and of mistakes among these."""

    coverage: Share
    estimate: Share
    bound: Share


@dataclass(frozen=True, slots=True)
class PolicyTested:
    """The thresholds that were tested for one decision about some groups together, and against what share."""

    decision: ShortText
    groups: Annotated[tuple[Identifier, ...], FailFast(), Field(max_length=MAX_ITEMS)]
    level: Share
    points: Annotated[tuple[PolicyTestedPoint, ...], FailFast(), Field(max_length=MAX_ITEMS)]


@dataclass(frozen=True, slots=True)
class PolicyAlphaCost:
    """What a promise of another ``alpha`` would have sent; ``sent`` is 0 where nothing can be promised.

    ``group`` is a message type and language, or ``all``.
    """

    alpha: Share
    answers: Count
    sent: Count
    true_sent: Share | None = None
    group: ShortText = "all"


@dataclass(frozen=True, slots=True)
class PolicyFigures:
    """What a fit showed, to look at; without a ``calibration`` there were too few ratings to fit a risk."""

    tested: Annotated[tuple[PolicyTested, ...], FailFast(), Field(max_length=MAX_ITEMS)]
    costs: Annotated[tuple[PolicyAlphaCost, ...], FailFast(), Field(max_length=MAX_ITEMS)]
    calibration: PolicyCalibration | None = None


@dataclass(frozen=True, slots=True)
class PolicyAsking:
    """Which answers judges are asked about first: those with a value of at least ``threshold``.

    The value is ``told`` * p * (1 - p); p is the risk expected without an opinion, by a logistic model.
    """

    intercept: FiniteFloat
    weights: Annotated[tuple[PolicyWeight, ...], FailFast(), Field(max_length=MAX_ITEMS)]
    told: Share
    threshold: Share


@dataclass(frozen=True, slots=True)
class PolicyContent:
    """What a version of the policy decides by: a logistic model of the risk, and certificates.

    ``figures`` are for people. Without ``asking`` the judges' budget is spent as answers come.
    """

    model: Identifier
    intercept: FiniteFloat
    weights: Annotated[tuple[PolicyWeight, ...], FailFast(), Field(max_length=MAX_ITEMS)]
    certificates: Annotated[tuple[PolicyCertificate, ...], FailFast(), Field(max_length=MAX_ITEMS)]
    figures: PolicyFigures | None = None
    asking: PolicyAsking | None = None


PolicyVersionName = Annotated[str, Field(min_length=1, max_length=200, pattern="^[A-Za-z0-9._-]+$")]


@dataclass(frozen=True, slots=True)
class PolicyChange:
    """A fitted policy is proposed, approved or withdrawn (topic ``policies``, compacted).

    ``change`` is ``proposed``, which alone has ``content``, ``approved`` or ``withdrawn``, which may be for
    the answers of one ``group``.
    """

    version: PolicyVersionName
    change: ShortText
    group: Identifier | None
    at: Timestamp
    by: Identifier
    reason: ReasonText
    content: PolicyContent | None = None


Record = (
    ChatbotAnswer
    | KnowledgeDocument
    | Review
    | Verdict
    | RateWindow
    | RateAlert
    | Pause
    | KnownAnswer
    | PolicyChange
)
