"""Opens the judges that the settings name, and tries them."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager

from scoring.judges import Case, JudgeOptions, Outcome, ReferenceDocuments, ask
from scoring.values.exchange import Passage
from streams.llm.endpoints.endpoint import Endpoint, Persistence
from streams.llm.endpoints.judge_metrics import EndpointObserver
from streams.llm.endpoints.judges import ChatModel, Judges
from streams.settings import EndpointSettings, JudgeSettings

_PROBE_TEXT = "This is a test."
_PROBE_CASE = Case("Is this a test?", _PROBE_TEXT, ReferenceDocuments((Passage("test", _PROBE_TEXT),)))


def _unwrapped(_: str, __: EndpointSettings, model: ChatModel) -> ChatModel:
    return model


@asynccontextmanager
async def open_judges(
    settings: JudgeSettings,
    observer: EndpointObserver | None = None,
    observed: Callable[[str, EndpointSettings, ChatModel], ChatModel] = _unwrapped,
    persistence: Persistence = Persistence(),  # noqa: B008 - frozen
) -> AsyncIterator[Judges | None]:
    """Give the judges, or None where no endpoint is named; none is connected to before it is asked.

    ``observed`` puts around a model what watches its replies; ``persistence`` is that of every endpoint.
    """
    if not settings.endpoints:
        yield None
        return
    from streams.llm.endpoints.chat import ChatClient  # noqa: PLC0415 - httpx2 takes a while to import

    async with AsyncExitStack() as stack:
        models: dict[str, ChatModel] = {}
        for name, endpoint in settings.endpoints.items():
            chat = ChatClient(name, endpoint)
            stack.push_async_callback(chat.close)
            models[name] = observed(
                name, endpoint, Endpoint(name, endpoint, chat, observer or EndpointObserver(), persistence)
            )
        yield Judges(models, settings.endpoints)


async def probe_judges(settings: JudgeSettings) -> dict[str, Outcome]:
    """Ask each endpoint once about an answer that says nothing; return what became of it by its name."""
    names = tuple(settings.endpoints)
    async with open_judges(settings, persistence=Persistence(attempts=1)) as judges:
        if judges is None:
            return {}
        limit = max(each.request_timeout_seconds for each in settings.endpoints.values())
        requests = [next(ask(_PROBE_CASE, "single", JudgeOptions(judges=(name,))))[0] for name in names]
        return dict(zip(names, await judges.inquire(limit).complete_all(requests), strict=True))
