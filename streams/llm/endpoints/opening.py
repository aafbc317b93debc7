"""Opens the judges that the settings name, and tries them."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager

from scoring.judges import Case, Documents, JudgeOptions, Outcome, ask
from scoring.values.types import Passage
from streams.llm.endpoints.endpoint import Endpoint
from streams.llm.endpoints.judge_metrics import Observer
from streams.llm.endpoints.judges import Judges, Model
from streams.settings import EndpointSettings, JudgeSettings

_TEST = "This is a test."
_TRIAL = Case("Is this a test?", _TEST, Documents((Passage("test", _TEST),)))


def _as_it_is(_: str, __: EndpointSettings, model: Model) -> Model:
    return model


@asynccontextmanager
async def open_judges(
    settings: JudgeSettings,
    observer: Observer | None = None,
    observed: Callable[[str, EndpointSettings, Model], Model] = _as_it_is,
) -> AsyncIterator[Judges | None]:
    """Give the judges, or None where no endpoint is named; none is connected to before it is asked.

    ``observed`` puts around a model what watches its replies.

    Raises:
        WrongSettings: an authority of TLS cannot be read.
    """
    if not settings.endpoints:
        yield None
        return
    from streams.llm.endpoints.chat import Chat  # noqa: PLC0415 - httpx2 takes a while to import

    async with AsyncExitStack() as stack:
        models: dict[str, Model] = {}
        for name, endpoint in settings.endpoints.items():
            chat = Chat(name, endpoint)
            stack.push_async_callback(chat.close)
            models[name] = observed(name, endpoint, Endpoint(name, endpoint, chat, observer or Observer()))
        yield Judges(models, settings.endpoints)


async def try_judges(settings: JudgeSettings) -> dict[str, Outcome]:
    """Ask each endpoint once about an answer that says nothing; return what became of it by its name.

    Raises:
        WrongSettings: an authority of TLS cannot be read.
    """
    once = {name: each.model_copy(update={"attempts": 1}) for name, each in settings.endpoints.items()}
    async with open_judges(settings.model_copy(update={"endpoints": once})) as judges:
        if judges is None:
            return {}
        limit = max(each.request_timeout_seconds for each in once.values())
        requests = [next(ask(_TRIAL, "single", JudgeOptions(judges=(name,))))[0] for name in once]
        return dict(zip(once, await judges.inquire(limit).answer_all(requests), strict=True))
