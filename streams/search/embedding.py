"""The engines that make sentence vectors, and the one that is chosen."""

from streams.search.embedder import Embedder, EmbeddingFailed
from streams.settings import RetrievalSettings


def open_embedder(settings: RetrievalSettings) -> Embedder:
    """Open the engine that is chosen; reading its model takes up to a second, once.

    Raises:
        EmbeddingFailed: its package is not installed (``embedder_not_installed``).
        ValueError: ``retrieval.embedder`` is none.
    """
    # Each engine is imported only where it is chosen: they hold models.
    try:
        match settings.embedder:
            case "use":
                from streams.search.embedding_use import UniversalSentenceEncoder  # noqa: PLC0415

                return UniversalSentenceEncoder()
            case "e5":
                from streams.search.embedding_e5 import MultilingualE5  # noqa: PLC0415

                return MultilingualE5()
            case "http":
                from streams.search.embedding_http import HttpEmbedder  # noqa: PLC0415

                return HttpEmbedder(settings)
            case "none":
                raise ValueError("retrieval.embedder is none")
    except ImportError as error:
        raise EmbeddingFailed("embedder_not_installed") from error
