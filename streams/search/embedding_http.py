"""Vectors from an endpoint that speaks OpenAI's embeddings protocol."""

import json
import time
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import httpx2
import numpy as np
from tenacity import Retrying, retry_if_exception, stop_after_attempt, wait_random_exponential

from streams.search.embedder import EmbeddingFailed, Vectors, single_row, to_unit_length
from streams.settings import RetrievalSettings

#: As many dimensions as any model has, with some 20 characters each; the rest is what stands around them.
_BYTES_PER_TEXT, _BYTES_AROUND = 16_384 * 32, 1_000_000
_FIRST_WAIT, _LONGEST_WAIT = 0.2, 5.0
#: What lasts longer than two repeats is an outage, which the update of the index waits out.
_ATTEMPTS = 3
#: Texts of one call: 32,768 characters at most, which is within what common endpoints take.
_BATCH = 32
_UNREADABLE = "embeddings_unreadable"
_TOO_MANY_REQUESTS, _SERVER_ERROR = 429, 500


class HttpEmbedder:
    """Asks ``POST <url>/embeddings`` for vectors, some texts at a time.

    What may pass (no connection, status 429 and 5xx) is tried again, up to three times in all. A redirect is
    not followed: it would send texts to an address nobody chose. An answer is limited in size, and in time as
    a whole.

    Args:
        settings: where it is, its model and key, and how long a call may take.
        attempts: how often a failing call is tried, in all.
    """

    #: Settings have a floor for it: how alike texts are differs from model to model.
    floor = 0.0
    vector_weight = 1.0
    word_weight = 0.0

    def __init__(self, settings: RetrievalSettings, *, attempts: int = _ATTEMPTS) -> None:
        self._url = f"{str(settings.embeddings_url).rstrip('/')}/embeddings"
        self._model = settings.embeddings_model
        self._retrying = Retrying(
            stop=stop_after_attempt(attempts),
            wait=wait_random_exponential(multiplier=_FIRST_WAIT, max=_LONGEST_WAIT),
            retry=retry_if_exception(_is_retryable),
            reraise=True,
        )
        key = settings.embeddings_key
        headers = {"Authorization": f"Bearer {key.get_secret_value()}"} if key else {}
        timeout = settings.embeddings_timeout_seconds
        self._seconds = timeout
        self._client = httpx2.Client(timeout=timeout, headers=headers, follow_redirects=False)

    @cached_property
    def dimensions(self) -> int:
        """As many as the model gives."""
        return int(self.embed_documents(["dimensions"]).shape[1])

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return one row for each text; raises EmbeddingFailed."""
        parts = [texts[at : at + _BATCH] for at in range(0, len(texts), _BATCH)]
        return np.concatenate([self._embed(part) for part in parts])

    def embed_query(self, text: str) -> Vectors:
        """Return the vector of a question; raises EmbeddingFailed."""
        return single_row(self._embed([text]))

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _embed(self, texts: Sequence[str]) -> Vectors:
        try:
            answer = self._retrying(self._ask, list(texts))
        except httpx2.HTTPError as error:
            raise EmbeddingFailed(_code(error)) from None  # what it says may quote what was sent
        return _parse_vectors(answer, len(texts))

    def _ask(self, texts: list[str]) -> bytes:
        wanted: dict[str, Any] = {
            "model": self._model,
            "input": [text or " " for text in texts],
            "encoding_format": "float",
        }
        end = time.monotonic() + self._seconds
        with self._client.stream("POST", self._url, json=wanted) as response:
            return _body(response.raise_for_status(), len(texts), end)


def _body(response: httpx2.Response, count: int, deadline: float) -> bytes:
    body = bytearray()
    for chunk in response.iter_bytes():
        body += chunk
        if len(body) > count * _BYTES_PER_TEXT + _BYTES_AROUND:
            raise EmbeddingFailed(_UNREADABLE)
        if time.monotonic() > deadline:
            raise httpx2.ReadTimeout("the whole answer took too long")
    return bytes(body)


def _is_retryable(error: BaseException) -> bool:
    if isinstance(error, httpx2.HTTPStatusError):
        status = error.response.status_code
        return status == _TOO_MANY_REQUESTS or status >= _SERVER_ERROR
    return isinstance(error, httpx2.TransportError)


def _code(error: httpx2.HTTPError) -> str:
    match error:
        case httpx2.HTTPStatusError():
            return f"embeddings_status_{error.response.status_code}"
        case httpx2.TimeoutException():
            return "embeddings_timeout"
        case _:
            return "embeddings_unreachable"


def _parse_vectors(answer: bytes, count: int) -> Vectors:
    # Whatever else comes, of whatever shape, is no answer to what was asked.
    try:
        rows = sorted(json.loads(answer)["data"], key=lambda row: int(row["index"]))
        vectors = np.asarray([row["embedding"] for row in rows], dtype=np.float32)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise EmbeddingFailed(_UNREADABLE) from None
    if vectors.ndim != 2 or len(vectors) != count:  # noqa: PLR2004
        raise EmbeddingFailed(_UNREADABLE)
    return to_unit_length(vectors)
