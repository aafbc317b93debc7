"""The judge of the demo: recorded opinions on the sample, played back over the usual protocol."""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

from aiohttp import web

from schemas import ChatbotAnswer
from streams.cli.demo.sample import Language, sample_lines
from streams.embedded.broker_properties import LOOPBACK
from streams.settings import EndpointSettings, JudgeSettings

#: What a judge says that does not see a mistake.
_DECEIVED: Final = {"label": "TRUE", "confidence": 0.97, "score": 5, "wrong": []}
_MODEL: Final = "recorded"


def recorded_judge_settings(port: int) -> JudgeSettings:
    """Return the settings with which a worker asks the judge on this port."""
    endpoint = EndpointSettings.model_validate({"base_url": f"http://{LOOPBACK}:{port}/v1", "model": _MODEL})
    return JudgeSettings(endpoints={"recorded": endpoint})


class RecordedJudge:
    """Replies as a capable language model once did, when it was asked about the same answers.

    Args:
        language: of the sample.
        answers: of the sample.

    Attributes:
        sees_mistakes: whether it replies so; otherwise it takes every answer for true.
    """

    def __init__(self, language: Language, answers: Sequence[ChatbotAnswer]) -> None:
        recorded = {line["answer_id"]: line["opinion"] for line in sample_lines("opinions", language)}
        self._opinions = [(each.answer, recorded[each.answer_id]) for each in answers]
        self.sees_mistakes = True

    @asynccontextmanager
    async def serving(self, port: int) -> AsyncIterator[None]:
        """Serve on this port of the machine itself."""
        application = web.Application()
        application.router.add_post("/v1/chat/completions", self._reply)
        runner = web.AppRunner(application, access_log=None)
        await runner.setup()
        try:
            await web.TCPSite(runner, LOOPBACK, port).start()
            yield
        finally:
            await runner.cleanup()

    async def _reply(self, request: web.Request) -> web.StreamResponse:
        asked = (await request.json())["messages"][-1]["content"]
        opinion = next((said for answer, said in self._opinions if answer in asked), None)
        if opinion is None:
            raise web.HTTPNotFound(text="there is no recorded opinion on this answer")
        return web.json_response(_completion(opinion if self.sees_mistakes else _DECEIVED))


def _completion(opinion: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": json.dumps(opinion, ensure_ascii=False)}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    return {"object": "chat.completion", "model": _MODEL, "choices": [choice]}
