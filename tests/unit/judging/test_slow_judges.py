"""Judges that never reply hold up neither answers that are not asked about nor a conversation for long."""

import asyncio
from datetime import UTC, datetime

from schemas.records import ChatbotAnswer, ContextPassage, Verdict
from scoring.features.error_mismatch import ERROR_MISMATCH_RULE
from scoring.policy import Policy
from scoring.values.exchange import Exchange, MessageType
from scoring.values.scored_answer import ScoredAnswer
from streams.delivery.keyed_executor import KeyedExecutor
from streams.llm.cascade import max_waiting_for_judges
from streams.pipeline.context import StaticDocuments
from streams.pipeline.pipeline import Deadline, Pipeline
from tests.support.virtual_time import run_virtually
from tests.unit.judging.test_cascade import NEVER, TRUE, Scripted, cascade

NOW = datetime(2026, 3, 2, 9, 15, tzinfo=UTC)
ANSWER_SECONDS = 60.0
IN_FLIGHT = 40
ASSESSING_SECONDS = 0.1


def answer(number: int, conversation: str, text: str) -> ChatbotAnswer:
    context = (ContextPassage("d", "Press New."),)
    return ChatbotAnswer(f"a-{number}", conversation, f"How? ({number})", text, NOW, context=context)


class Assessing:
    """Takes a moment; what says ``low`` is blocked for it, and everything else is in doubt."""

    async def score(self, exchange: Exchange, degraded: tuple[str, ...]) -> ScoredAnswer:
        await asyncio.sleep(ASSESSING_SECONDS)
        low = exchange.answer == "low"
        because = ERROR_MISMATCH_RULE if low else None
        return ScoredAnswer(1.0 if low else 3.0, MessageType.BINARY, "en", because, degraded)


async def judged(answers: list[ChatbotAnswer], model: Scripted) -> dict[str, tuple[Verdict, float]]:
    """Take answers in one after the other, as a worker does; give verdicts and the seconds to each."""
    loop, found = asyncio.get_running_loop(), dict[str, tuple[Verdict, float]]()
    asking = cascade(model, max_in_flight=max_waiting_for_judges(IN_FLIGHT))
    way = Pipeline(StaticDocuments({}), Assessing(), Policy().decide, "p", ask_judges=asking.ask_judges)
    lanes = KeyedExecutor(IN_FLIGHT, _fail)
    for each in answers:
        deadline = Deadline(loop.time() + ANSWER_SECONDS)

        async def work(each: ChatbotAnswer = each, deadline: Deadline = deadline) -> None:
            verdict = await way.verdict(each, deadline, lambda: NOW)
            found[each.answer_id] = verdict, loop.time()

        await lanes.submit(each.conversation_id, work)
    await lanes.drain()
    return found


def _fail(error: BaseException) -> None:
    raise AssertionError from error


def test_answers_that_are_not_asked_about_are_not_held_up_by_any_number_that_are():
    doubtful = [answer(number, f"c-{number}", "perhaps") for number in range(10 * IN_FLIGHT)]
    clear = [answer(1_000 + number, f"d-{number}", "low") for number in range(IN_FLIGHT)]
    found = run_virtually(judged([*doubtful, *clear], Scripted([(NEVER, TRUE)])))
    assert len(found) == len(doubtful) + len(clear)
    for each in clear:
        verdict, seconds = found[each.answer_id]
        assert verdict.decision == "blocked"
        assert seconds < 2
    assert {found[each.answer_id][0].degraded for each in doubtful} == {("judge_unavailable",)}


def test_behind_answers_that_wait_for_judges_their_conversation_is_still_judged_in_time():
    talk = [answer(number, "c", "low" if number % 5 == 4 else "perhaps") for number in range(8)]
    found = run_virtually(judged(talk, Scripted([(NEVER, TRUE)])))
    for number, each in enumerate(talk):
        verdict, seconds = found[each.answer_id]
        assert seconds < ANSWER_SECONDS
        assert verdict.score is not None
        assert verdict.degraded == (() if number == 4 else ("judge_unavailable",))
