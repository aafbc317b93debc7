"""Opens the judges that the settings name, and probes them."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Final

from scoring.judges import Case, JudgeOptions, Outcome, ReferenceDocuments, ask
from scoring.values.exchange import Passage
from streams.llm.endpoints.endpoint import CallOptions, Endpoint
from streams.llm.endpoints.judge_metrics import EndpointObserver
from streams.observability.stages import Stages
from streams.settings import JudgeSettings

_UNTRACED: Final = Stages()
_PROBE_TEXT = "This is a test."
_PROBE_CASE = Case("Is this a test?", _PROBE_TEXT, ReferenceDocuments((Passage("test", _PROBE_TEXT),)))


@asynccontextmanager
async def open_judges(
    settings: JudgeSettings,
    observer: EndpointObserver | None = None,
    stages: Stages = _UNTRACED,
    options: CallOptions = CallOptions(),  # noqa: B008 - frozen
) -> AsyncIterator[Mapping[str, Endpoint]]:
    """Open the endpoints by their names in the settings; each connects when it is first asked.

    Args:
        settings: the endpoints.
        observer: called with outcomes, faults and changes of state.
        stages: opens a span for each request.
        options: retries, circuit breaker and parameters of every endpoint.

    Raises:
        InvalidSettings: a certificate authority cannot be read.
    """
    if not settings.endpoints:
        yield {}
        return
    from streams.llm.endpoints.chat_client import ChatClient  # noqa: PLC0415 - httpx2 takes a while to import

    async with AsyncExitStack() as stack:
        judges = {}
        for name, endpoint in settings.endpoints.items():
            client = ChatClient(name, endpoint)
            stack.push_async_callback(client.close)
            judges[name] = Endpoint(name, endpoint, client, observer, stages, options)
        yield judges


async def probe_judges(settings: JudgeSettings) -> dict[str, Outcome]:
    """Ask each endpoint once about a meaningless answer; return the outcomes by name."""
    async with open_judges(settings, options=CallOptions(attempts=1)) as judges:
        now, probes = asyncio.get_running_loop().time(), []
        deadline = now + max(
            (each.request_timeout_seconds for each in settings.endpoints.values()), default=0
        )
        for name, judge in judges.items():
            (request,) = next(ask(_PROBE_CASE, "single", JudgeOptions(judges=(name,))))
            probes.append(judge.complete(request, deadline))
        return dict(zip(judges, await asyncio.gather(*probes), strict=True))
