"""Opens the judges that the settings name."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager

from streams.judging.endpoints.endpoint import Endpoint
from streams.judging.endpoints.judges import Judges, Model
from streams.judging.endpoints.observer import Observer
from streams.settings import EndpointSettings, JudgeSettings


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
    from streams.judging.endpoints.chat import Chat  # noqa: PLC0415 - takes half a second to import

    async with AsyncExitStack() as stack:
        models: dict[str, Model] = {}
        for name, endpoint in settings.endpoints.items():
            chat = await stack.enter_async_context(Chat(name, endpoint))
            models[name] = observed(name, endpoint, Endpoint(name, endpoint, chat, observer or Observer()))
        yield Judges(models, settings.endpoints)
