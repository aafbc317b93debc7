"""The end of the demo at the desk: ratings become a policy, which a worse chatbot causes to be withdrawn."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final

from schemas import ChatbotAnswer, PolicyChange
from scoring.values.exchange import MIN_TRUE_RATING
from streams.cli.command_output import say
from streams.cli.demo.demo_judge import RecordedJudge
from streams.cli.demo.demo_reviewer import SimulatedReviewer
from streams.cli.demo.sample import Language, sample_ratings
from streams.cli.topic_access import TimeRange, decode_record, follow
from streams.kafka.schema_topic import create_codec
from streams.kafka.topics import Topics
from streams.pipeline.verdict import verdict_id
from streams.reviews.policy_records import Change
from streams.settings import Settings

#: With the 80 ratings of the sample, hardly less can be promised.
_ALPHA: Final = 0.1
#: It takes 161 s on a machine with two cores.
_STORY_SECONDS: Final = 1_800.0
_RATING_SECONDS: Final = 0.2
_ANSWERS_PER_SECOND: Final = 5.0
_WORSE_ANSWERS_PER_SECOND: Final = 1.0
_PROPOSED: Final = re.compile(r"proposed: (\S+);")
#: Another wording, so that the judge is asked again instead of what it said before.
_THANKS: Final = {"nl": "Alvast bedankt!", "en": "Thanks in advance!"}
_AGAIN, _WORSE = "-again", "-worse"


def demo_ratings(language: Language) -> dict[str, int]:
    """Return the rating of every answer that the demo sends, by verdict id."""
    rated = sample_ratings(language).items()
    return {verdict_id(f"{each}{run}"): rating for each, rating in rated for run in ("", _AGAIN, _WORSE)}


@dataclass(frozen=True, slots=True)
class PolicyStory:
    """What follows when all answers of the sample are scored, as long as no person decides.

    Args:
        settings: of the demo.
        language: of the sample.
        answers: of the sample.
        reviewer: rates at the desk.
        judge: of the worker.
        command: runs a command of truthgate, and returns its exit code and what it says.
        replay: sends answers, so many a second, and waits for their verdicts.
        page: address of the desk.
    """

    settings: Settings
    language: Language
    answers: Sequence[ChatbotAnswer]
    reviewer: SimulatedReviewer
    judge: RecordedJudge
    command: Callable[..., Awaitable[tuple[int | None, str]]]
    replay: Callable[[Sequence[ChatbotAnswer], float], Awaitable[None]]
    page: str

    async def run(self) -> None:
        """Tell it to its end, or until a person decides at the desk or a command fails, which is shown.

        What takes longer than half an hour is said, and the demo stays as it is.
        """
        try:
            async with asyncio.timeout(_STORY_SECONDS):
                await self._tell()
        except TimeoutError:
            say(f"after {_STORY_SECONDS / 60:.0f} minutes it goes no further; see {self.page}lead/policies")

    async def _tell(self) -> None:
        say("until ratings show what can be promised, nothing is sent by itself but documents word for word")
        self.reviewer.seconds = _RATING_SECONDS
        if not await self._are_reviewed(self.answers):
            return
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        fitted = await self._run("policy", "fit", "--alpha", str(_ALPHA), "--until", now, "--propose")
        if not (proposed := _PROPOSED.search(fitted)):
            return
        if not await self._run("policy", "approve", proposed[1], "--reason", "shown in the demo"):
            return
        again = [_another(each, _AGAIN) for each in self.answers]
        say(f"the same answers again, now decided by the policy; the lead's page: {self.page}lead/policies")
        await self.replay(again, _ANSWERS_PER_SECOND)
        if not await self._are_reviewed(again):
            return
        say("the chatbot gets worse: it makes mistakes that its judge does not see")
        self.judge.sees_mistakes = False
        rated = sample_ratings(self.language)
        worse = [
            replace(_another(each, _WORSE), question=f"{each.question} {_THANKS[self.language]}")
            for each in self.answers
            if rated[each.answer_id] < MIN_TRUE_RATING
        ]
        await self.replay(worse, _WORSE_ANSWERS_PER_SECOND)
        reason = await self._withdrawal()
        say(f"truthgate has withdrawn the policy: {reason}; it sends nothing until a lead approves it again")

    async def _run(self, *arguments: str) -> str:
        """Show a command and what it says; return that, or nothing if it failed."""
        say(f"truthgate {' '.join(arguments)}")
        code, said = await self.command(*arguments)
        for line in said.splitlines():
            say(f"  {line}")
        return "" if code else said

    async def _are_reviewed(self, answers: Collection[ChatbotAnswer]) -> bool:
        """Wait until the reviewer has rated the answers; return False if a person decides."""
        await self.reviewer.wait_for({verdict_id(each.answer_id) for each in answers})
        return not self.reviewer.has_stopped

    async def _withdrawal(self) -> str:
        """Wait until the policy is withdrawn, and return why."""
        codec, topic = create_codec(self.settings), Topics(self.settings.kafka.topic_prefix).policies
        followed = follow(self.settings.kafka, topic, period=TimeRange(from_beginning=True))
        async with aclosing(followed) as records:
            async for record in records:
                change = await decode_record(record, codec, PolicyChange)
                if change and change.change == Change.WITHDRAWN:
                    return change.reason
        raise AssertionError("following has no end")


def _another(answer: ChatbotAnswer, run: str) -> ChatbotAnswer:
    conversation_id = f"{answer.conversation_id}{run}"
    return replace(answer, answer_id=f"{answer.answer_id}{run}", conversation_id=conversation_id)
