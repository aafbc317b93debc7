"""Opens the step that the settings ask for."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from scoring.translation.errors import TranslationObserver
from streams.settings import Settings
from streams.translating.step import TranslationStage

#: How long a file's answer may wait for its translation: nobody waits for a file as for a chat, and
#: a translator that is down is noticed long before.
FILE_TIMEOUT_SECONDS = 600.0
_NO_OBSERVER = TranslationObserver()


@asynccontextmanager
async def open_translation(
    settings: Settings,
    timeout_seconds: float | None = None,
    observer: TranslationObserver = _NO_OBSERVER,
) -> AsyncIterator[TranslationStage | None]:
    """Open the translation by ``translation.provider``, or yield None where none is set.

    ``timeout_seconds`` for one exchange takes the place of the settings'. ``observer`` hears what happens.

    Raises:
        InvalidSettings: a provider or cache that cannot be made.
    """
    if settings.translation.provider is None:
        yield None
        return
    from streams.translating.translate_first import open_translate_first  # noqa: PLC0415 - takes half a second to import

    timeout_seconds = timeout_seconds or settings.translation.timeout_seconds
    with open_translate_first(settings, timeout_seconds, observer) as translation:
        yield translation


def open_file_translation(settings: Settings) -> AbstractAsyncContextManager[TranslationStage | None]:
    """Give the translation for commands that judge files; see :func:`open_translation`."""
    return open_translation(settings, FILE_TIMEOUT_SECONDS)
