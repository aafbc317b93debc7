"""Opens the step that the settings ask for."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

from scoring.translation.errors import TranslationObserver
from streams.settings import InvalidSettings, Settings, TranslationSettings
from streams.translating.step import TranslationStage

#: How long a file's answer may wait for its translation: nobody waits for a file as for a chat, and
#: a translator that is down is noticed long before.
FILE_TIMEOUT_SECONDS = 600.0
_NO_OBSERVER = TranslationObserver()


@asynccontextmanager
async def open_translation(
    settings: TranslationSettings,
    time_limit: float | None = None,
    observer: TranslationObserver = _NO_OBSERVER,
    own_lexicons: Path | None = None,
) -> AsyncIterator[TranslationStage | None]:
    """Give what the settings ask for: mode ``off``, and ``auto`` without a provider, give None.

    ``time_limit``, in seconds for one exchange, takes the place of the settings'. ``observer``
    hears what happens. ``own_lexicons`` is the folder that the scorer
    has lexicons from: both must know the same languages.

    Raises:
        InvalidSettings: mode ``always`` without a provider, or a provider or cache that cannot be made.
    """
    if settings.mode == "always" and settings.provider is None:
        raise InvalidSettings("translation.mode is always, so translation.provider is needed")
    if settings.mode == "off" or settings.provider is None:
        yield None
        return
    from streams.translating.translate_first import open_translate_first  # noqa: PLC0415 - takes half a second to import

    with open_translate_first(
        settings, time_limit or settings.time_limit_seconds, observer, own_lexicons
    ) as translation:
        yield translation


def open_file_translation(settings: Settings) -> AbstractAsyncContextManager[TranslationStage | None]:
    """Give the translation for commands that judge files; see :func:`open_translation`."""
    return open_translation(
        settings.translation, FILE_TIMEOUT_SECONDS, own_lexicons=settings.scoring.lexicons
    )
