"""A judge method: its brief, the requests of a round, and the judgement it comes to."""

import json
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeAlias, TypeVar

from scoring.judges import prompts
from scoring.judges.case import JudgeOptions
from scoring.judges.forms import Evaluation, Form, Scored, Wrong, reply_schema
from scoring.judges.prompts import Prompt
from scoring.judges.replies import Malformed, read
from scoring.judges.requests import Failure, Finish, Message, Outcome, Reply, Request
from scoring.judges.texts import Part, cleaned, fenced
from scoring.values.opinion import Label, Mistake, Unsure
from scoring.values.types import HIGHEST, LOWEST, Passage

F = TypeVar("F", bound=Form)
T = TypeVar("T")

#: A part of a method: asks rounds, and returns what it made of them.
Rounds: TypeAlias = Generator[tuple[Request, ...], tuple[Outcome, ...], T]


@dataclass(frozen=True, slots=True)
class Ask(Generic[F]):
    """A request with the form that its reply must have.

    ``check`` says what else is wrong with a reply, in words of ours, or None.
    """

    request: Request
    form: type[F]
    check: Callable[[F], str | None] | None = None


@dataclass(frozen=True, slots=True)
class Said(Generic[F]):
    """What a model said, and the reply that it said it in."""

    form: F
    reply: Reply


class NoOpinion(Exception):
    """A reply that a method cannot do without is not there, or the answer is not for it."""

    def __init__(self, reason: Unsure) -> None:
        super().__init__(reason)
        self.reason = reason


def ask_all(asks: Sequence[Ask[F]]) -> Rounds[tuple[Said[F] | Unsure, ...]]:
    """Ask at once; yields a round, and a second one for those replies that were malformed."""
    outcomes = yield tuple(ask.request for ask in asks)
    results = [_result(ask, outcome) for ask, outcome in zip(asks, outcomes, strict=True)]
    broken = {number: result for number, result in enumerate(results) if isinstance(result, Malformed)}
    if not broken:
        return _final(results)
    repairs = [replace(asks[number], request=_repair(asks[number], why)) for number, why in broken.items()]
    outcomes = yield tuple(ask.request for ask in repairs)
    for number, ask, outcome in zip(broken, repairs, outcomes, strict=True):
        results[number] = _result(ask, outcome)
    return _final(results)


def ask_each(asks: Sequence[Ask[F]]) -> Rounds[list[Said[F]]]:
    """Ask at once; raises NoOpinion with the reason of the first that has no usable reply."""
    said = []
    for each in (yield from ask_all(asks)):
        if isinstance(each, Unsure):
            raise NoOpinion(each)
        said.append(each)
    return said


def ask_one(ask: Ask[F]) -> Rounds[Said[F]]:
    """Ask one request; raises NoOpinion where it has no usable reply."""
    (said,) = yield from ask_each([ask])
    return said


def _result(ask: Ask[F], outcome: Outcome) -> Said[F] | Unsure | Malformed:
    if isinstance(outcome, Failure):
        return Unsure.NO_REPLY
    if outcome.finish is not Finish.STOP:
        return Unsure.REFUSED if outcome.finish is Finish.REFUSED else Unsure.CUT_OFF
    if not outcome.text.strip():
        return Unsure.EMPTY
    try:
        form = read(outcome.text, ask.form)
    except Malformed as malformed:
        return malformed
    problem = ask.check(form) if ask.check else None
    return Malformed(problem) if problem else Said(form, outcome)


def _final(results: Sequence[Said[F] | Unsure | Malformed]) -> tuple[Said[F] | Unsure, ...]:
    return tuple(Unsure.MALFORMED if isinstance(each, Malformed) else each for each in results)


def _repair(ask: Ask[F], malformed: Malformed) -> Request:
    """Return the request with what was wrong behind the data.

    The reply itself is not shown: it may quote hostile data outside any fence. It stays one message, since
    the templates of many models refuse two of a user in a row.
    """
    *before, last = ask.request.messages
    note = prompts.filled("repair", {"problem": malformed})
    return replace(ask.request, messages=(*before, Message("user", f"{last.content}\n\n{note}")))


_NO_VALUES: Mapping[str, object] = {}


@dataclass(frozen=True, slots=True)
class Brief:
    """A case as a model may see it: clean, masked, and no longer than is allowed.

    ``kind`` is that of the reference, ``documents`` or ``expected``, and ``reference`` are its parts.
    ``passages`` are what there is to search in: the documents before anything was left out. ``examples``
    are one part, or none.
    """

    question: str
    answer: str
    kind: str
    reference: tuple[Part, ...]
    passages: tuple[Passage, ...]
    options: JudgeOptions
    examples: tuple[Part, ...] = ()
    shortened: bool = False

    @property
    def whole(self) -> tuple[Part, ...]:
        """Everything: the reference first, the longest, which other answers may share."""
        return (*self.reference, *self.asked)

    @property
    def asked(self) -> tuple[Part, ...]:
        """Question and answer."""
        return Part("question", self.question), Part("answer", self.answer)

    def ask(
        self,
        prompt: Prompt[F],
        parts: Sequence[Part],
        *,
        check: Callable[[F], str | None] | None = None,
        values: Mapping[str, object] = _NO_VALUES,
        added: Iterable[str] = (),
        judge: str | None = None,
        sample: int = 0,
        temperature: float | None = None,
        logprobs: bool = False,
    ) -> Ask[F]:
        """Return the request for a prompt on some parts of the case; ``judge`` None is the first of them."""
        examples = self.examples if issubclass(prompt.form, Scored) else ()
        added = (*(["examples"] if examples else []), *added)
        system = prompts.system_message(prompt, self.kind, values, added)
        # What a model said in an earlier round is data as well.
        data = fenced(prompt.name, [Part(part.name, cleaned(part.text).text) for part in (*examples, *parts)])
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
        return Ask(request, prompt.form, check)


def numbered(name: str, texts: Iterable[str]) -> Part:
    """Return texts as one part: one JSON object a line with its number, which no text can break out of."""
    return lines(name, ({"number": number, "text": each} for number, each in enumerate(texts, start=1)))


def lines(name: str, objects: Iterable[Mapping[str, object]]) -> Part:
    """Return objects as one part, one a line."""
    return Part(name, "\n".join(json.dumps(each, ensure_ascii=False) for each in objects))


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
    wrong: tuple[Wrong, ...] = ()
    mistakes: tuple[Mistake, ...] = ()
    consistency: float | None = None
    relevance: float | None = None
    unsure: Unsure | None = None


#: A method: asks its rounds on a brief, and judges; may raise NoOpinion.
Run: TypeAlias = Callable[[Brief], Rounds[Judgement]]


@dataclass(frozen=True, slots=True)
class Method:
    """A method under its name in the settings.

    ``requests`` is the most requests that it makes with given options, repairs not counted: each may be
    repaired once. What its confidence means stands in this folder's README.
    """

    name: str
    run: Run
    prompts: tuple[Prompt[Any], ...]
    requests: Callable[[JudgeOptions], int]


def label_of(evaluation: Evaluation) -> Label:
    """Return the label of the two dimensions of paper 004.

    What is not consistent is untrue. What is consistent but does not address the question is what
    paper 002, section 4, calls NOT GIVEN: declined or irrelevant.
    """
    if not evaluation.consistent:
        return Label.FALSE
    return Label.TRUE if evaluation.relevant else Label.NOT_GIVEN


def contradiction(label: Label, score: float) -> str | None:
    """Say that a label and a score do not go together, in words for the repair, or None."""
    if (label is Label.TRUE and score < _TRUE_FROM) or (label is Label.FALSE and score > FALSE_TO):
        return f"the decision {label} and the score {score:g} contradict each other"
    return None


def check_evaluation(evaluation: Evaluation) -> str | None:
    """Say what in an evaluation contradicts itself, or None."""
    return contradiction(label_of(evaluation), evaluation.score)


def judged(label: Label, confidence: float, said: Scored) -> Judgement:
    """Return the judgement of a reply that has a score."""
    return Judgement(label, confidence, said.score, said.wrong)


def check_numbers(given: Iterable[int], expected: int) -> str | None:
    """Say that a reply does not give each of the numbers from 1 on once, or None."""
    if sorted(given) == list(range(1, expected + 1)):
        return None
    return f"it does not give each number from 1 to {expected} once"


def scaled(share: float) -> float:
    """Return a share in [0, 1] on the scale of scores."""
    return LOWEST + (HIGHEST - LOWEST) * share
