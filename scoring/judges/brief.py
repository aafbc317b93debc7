"""The brief of a method: a case ready to be shown, and the requests that are made of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from scoring.judges import prompts
from scoring.judges.asking import Ask
from scoring.judges.options import JudgeOptions
from scoring.judges.prompts import Prompt
from scoring.judges.replies.forms import Form, Scored
from scoring.judges.replies.schemas import reply_schema
from scoring.judges.requests import Message, Request
from scoring.judges.texts.cleaning import cleaned
from scoring.judges.texts.fencing import Part, fenced
from scoring.values.types import Passage

F = TypeVar("F", bound=Form)

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
