"""A judge method: its brief, the requests of a round, and the judgement it comes to."""

import json
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeAlias, TypeVar

from scoring.judges import prompts
from scoring.judges.case import JudgeOptions
from scoring.judges.forms import EvaluationReply, Numbered, ReplyForm, ScoredReply, WrongWords, reply_schema
from scoring.judges.prompts import Prompt
from scoring.judges.replies import MalformedReply, parse_reply
from scoring.judges.requests import Failure, Finish, Message, Outcome, Reply, Request
from scoring.judges.texts import PromptPart, clean, fence
from scoring.values.exchange import MAX_SCORE, MIN_SCORE, Passage
from scoring.values.opinion import Label, Mistake, UnsureReason

F = TypeVar("F", bound=ReplyForm)
T = TypeVar("T")

#: A part of a method: asks rounds, and returns what it made of them.
Rounds: TypeAlias = Generator[tuple[Request, ...], tuple[Outcome, ...], T]


@dataclass(frozen=True, slots=True)
class TypedRequest(Generic[F]):
    """A request with the form that its reply must have.

    ``check`` says what else is wrong with a reply, in words of ours, or None.
    """

    request: Request
    form: type[F]
    check: Callable[[F], str | None] | None = None


@dataclass(frozen=True, slots=True)
class TypedReply(Generic[F]):
    """What a model said, and the reply that it said it in."""

    form: F
    reply: Reply


class NoOpinion(Exception):
    """A reply that a method cannot do without is not there, or the answer is not for it."""

    def __init__(self, reason: UnsureReason) -> None:
        super().__init__(reason)
        self.reason = reason


def ask_all(asks: Sequence[TypedRequest[F]]) -> Rounds[tuple[TypedReply[F] | UnsureReason, ...]]:
    """Ask at once; yields a round, and a second one for those replies that were malformed."""
    outcomes = yield tuple(ask.request for ask in asks)
    results = [_result(ask, outcome) for ask, outcome in zip(asks, outcomes, strict=True)]
    broken = {number: result for number, result in enumerate(results) if isinstance(result, MalformedReply)}
    if not broken:
        return _final(results)
    repairs = [replace(asks[number], request=_repair(asks[number], why)) for number, why in broken.items()]
    outcomes = yield tuple(ask.request for ask in repairs)
    for number, ask, outcome in zip(broken, repairs, outcomes, strict=True):
        results[number] = _result(ask, outcome)
    return _final(results)


def require_replies(asks: Sequence[TypedRequest[F]]) -> Rounds[list[TypedReply[F]]]:
    """Ask at once; raises NoOpinion with the reason of the first that has no usable reply."""
    said = []
    for each in (yield from ask_all(asks)):
        if isinstance(each, UnsureReason):
            raise NoOpinion(each)
        said.append(each)
    return said


def require_reply(ask: TypedRequest[F]) -> Rounds[TypedReply[F]]:
    """Ask one request; raises NoOpinion where it has no usable reply."""
    (said,) = yield from require_replies([ask])
    return said


def _result(ask: TypedRequest[F], outcome: Outcome) -> TypedReply[F] | UnsureReason | MalformedReply:
    if isinstance(outcome, Failure):
        return UnsureReason.NO_REPLY
    if outcome.finish is not Finish.STOP:
        return UnsureReason.REFUSED if outcome.finish is Finish.REFUSED else UnsureReason.CUT_OFF
    if not outcome.text.strip():
        return UnsureReason.EMPTY
    try:
        form = parse_reply(outcome.text, ask.form)
    except MalformedReply as malformed:
        return malformed
    problem = ask.check(form) if ask.check else None
    return MalformedReply(problem) if problem else TypedReply(form, outcome)


def _final(
    results: Sequence[TypedReply[F] | UnsureReason | MalformedReply],
) -> tuple[TypedReply[F] | UnsureReason, ...]:
    return tuple(UnsureReason.MALFORMED if isinstance(each, MalformedReply) else each for each in results)


def _repair(ask: TypedRequest[F], malformed: MalformedReply) -> Request:
    """Return the request with what was wrong after the data.

    The reply itself is not shown: it may quote hostile data outside any fence. It stays one message, since
    the templates of many models refuse two of a user in a row.
    """
    *before, last = ask.request.messages
    note = prompts.fill_template("repair", {"problem": malformed})
    return replace(ask.request, messages=(*before, Message("user", f"{last.content}\n\n{note}")))


_NO_VALUES: Mapping[str, object] = {}


@dataclass(frozen=True, slots=True)
class Brief:
    """A case as a model may see it: clean, masked, and no longer than is allowed.

    ``reference_kind`` is ``documents`` or ``expected``, and ``reference`` are its parts.
    ``passages`` are what there is to search in: the documents before anything was left out. ``examples``
    are one part, or none.
    """

    question: str
    answer: str
    reference_kind: str
    reference: tuple[PromptPart, ...]
    passages: tuple[Passage, ...]
    options: JudgeOptions
    examples: tuple[PromptPart, ...] = ()
    shortened: bool = False

    @property
    def all_parts(self) -> tuple[PromptPart, ...]:
        """Everything: the reference first, the longest, which other answers may share."""
        return (*self.reference, *self.question_and_answer)

    @property
    def question_and_answer(self) -> tuple[PromptPart, ...]:
        """Question and answer."""
        return PromptPart("question", self.question), PromptPart("answer", self.answer)

    def typed_request(
        self,
        prompt: Prompt[F],
        parts: Sequence[PromptPart],
        *,
        check: Callable[[F], str | None] | None = None,
        values: Mapping[str, object] = _NO_VALUES,
        extras: Iterable[str] = (),
        judge: str | None = None,
        sample: int = 0,
        temperature: float | None = None,
        logprobs: bool = False,
    ) -> TypedRequest[F]:
        """Return the request for a prompt on some parts of the case; ``judge`` None is the first of them."""
        examples = self.examples if issubclass(prompt.form, ScoredReply) else ()
        extras = (*(["examples"] if examples else []), *extras)
        system = prompts.system_message(prompt, self.reference_kind, values, extras)
        # What a model said in an earlier round is data as well.
        data = fence(
            prompt.name, [PromptPart(part.name, clean(part.text).text) for part in (*examples, *parts)]
        )
        request = Request(
            messages=(Message("system", system), Message("user", f"{data}\n\n{prompts.text('closing')}")),
            schema=reply_schema(prompt.form),
            judge=judge or self.options.judges[0],
            max_tokens=self.options.max_tokens,
            temperature=self.options.temperature if temperature is None else temperature,
            logprobs=logprobs,
            sample=sample,
            shortened=self.shortened and any(part in self.reference for part in parts),
        )
        return TypedRequest(request, prompt.form, check)


def numbered_part(name: str, texts: Iterable[str]) -> PromptPart:
    """Return texts as one part: one JSON object a line with its number, which no text can break out of."""
    return jsonl_part(name, ({"number": number, "text": each} for number, each in enumerate(texts, start=1)))


def jsonl_part(name: str, objects: Iterable[Mapping[str, object]]) -> PromptPart:
    """Return objects as one part, one a line."""
    return PromptPart(name, "\n".join(json.dumps(each, ensure_ascii=False) for each in objects))


# A reply that says TRUE with a score below the middle, or FALSE with nearly the highest, was not thought out.
_TRUE_FROM, FALSE_TO = 3.0, 4.0


@dataclass(frozen=True, slots=True)
class Judgement:
    """A label with what belongs to it, or the reason why there is none.

    ``mistakes`` are kinds that no words of the answer show.
    """

    label: Label | None
    confidence: float = 0.0
    score: float | None = None
    wrong: tuple[WrongWords, ...] = ()
    mistakes: tuple[Mistake, ...] = ()
    consistency: float | None = None
    relevance: float | None = None
    unsure: UnsureReason | None = None


#: A method: asks its rounds on a brief, and judges; may raise NoOpinion.
RunMethod: TypeAlias = Callable[[Brief], Rounds[Judgement]]


@dataclass(frozen=True, slots=True)
class Method:
    """A method under its name in the settings.

    ``requests`` is the most requests that it makes with given options, repairs not counted: each may be
    repaired once. This folder's README says what its confidence means.
    """

    name: str
    run: RunMethod
    prompts: tuple[Prompt[Any], ...]
    max_requests: Callable[[JudgeOptions], int]


def label_of(evaluation: EvaluationReply) -> Label:
    """Return the label of the two dimensions of paper 004.

    What is not consistent is untrue. What is consistent but does not address the question is what
    paper 002, section 4, calls NOT GIVEN: declined or irrelevant.
    """
    if not evaluation.consistent:
        return Label.FALSE
    return Label.TRUE if evaluation.relevant else Label.NOT_GIVEN


def label_score_conflict(label: Label, score: float) -> str | None:
    """Return what to repair if a label and a score contradict each other, or None."""
    if (label is Label.TRUE and score < _TRUE_FROM) or (label is Label.FALSE and score > FALSE_TO):
        return f"the decision {label} and the score {score:g} contradict each other"
    return None


def check_evaluation(evaluation: EvaluationReply) -> str | None:
    """Return what to repair if an evaluation contradicts itself, or None."""
    return label_score_conflict(label_of(evaluation), evaluation.score)


def judgement_of(label: Label, confidence: float, reply: ScoredReply) -> Judgement:
    """Return the judgement of a reply that has a score."""
    return Judgement(label, confidence, reply.score, reply.wrong)


def check_numbers(given: Iterable[Numbered], expected: int) -> str | None:
    """Return what to repair if a reply does not have each number from 1 on once, or None."""
    if sorted(each.number for each in given) == list(range(1, expected + 1)):
        return None
    return f"it does not give each number from 1 to {expected} once"


def score_from_share(share: float) -> float:
    """Return a share in [0, 1] on the scale of scores."""
    return MIN_SCORE + (MAX_SCORE - MIN_SCORE) * share
