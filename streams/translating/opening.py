"""Opens the translation stage of the settings."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from scoring.translation.errors import TranslationObserver
from streams.settings import Settings
from streams.translating.translation_stage import TranslationStage

#: The longest wait for the translation of an answer of a file: longer than for a chat, but a translator that
#: is down is noticed long before.
FILE_TIMEOUT_SECONDS = 600.0
_NO_OBSERVER = TranslationObserver()


@asynccontextmanager
async def open_translation(
    settings: Settings,
    timeout_seconds: float | None = None,
    observer: TranslationObserver = _NO_OBSERVER,
) -> AsyncIterator[TranslationStage | None]:
    """Open the translation by ``translation.provider``, or yield None if none is set.

    ``timeout_seconds`` for one exchange replaces that of the settings. ``observer`` is called with outcomes.

    Raises:
        InvalidSettings: the provider or cache cannot be opened.
    """
    if settings.translation.provider is None:
        yield None
        return
    from streams.translating.translate_first import open_translate_first  # noqa: PLC0415 - takes half a second to import

    timeout_seconds = timeout_seconds or settings.translation.timeout_seconds
    with open_translate_first(settings, timeout_seconds, observer) as translation:
        yield translation


def open_file_translation(settings: Settings) -> AbstractAsyncContextManager[TranslationStage | None]:
    """Open the translation for commands that score files; see :func:`open_translation`."""
    return open_translation(settings, FILE_TIMEOUT_SECONDS)
