"""Metrics of the search index."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streams.observability.instruments import Instruments

if TYPE_CHECKING:
    from streams.search.index_updates import IndexUpdater


class RetrievalMetrics:
    """The instruments of the index."""

    def __init__(self, instruments: Instruments) -> None:
        self._indexed = instruments.gauge(
            "truthgate.retrieval_documents",
            "Documents in the search index.",
            "`truthgate_documents`, which it approaches; `retrieval.embedder`.",
            unit="{document}",
        )
        self._pending = instruments.gauge(
            "truthgate.retrieval_documents_pending",
            "Documents still to be added to the search index, or removed from it.",
            "`truthgate_retrieval_index_failures_total`; the log line `retrieval_index_progress`.",
            unit="{document}",
        )
        self._complete = instruments.gauge(
            "truthgate.retrieval_complete",
            "Whether the search index has had every document (1); until then answers without context go to "
            "review. Absent if retrieval is off.",
            "`truthgate_retrieval_documents_pending`.",
        )
        self._indexed.set(0)
        self._pending.set(0)
        self.failures = instruments.counter(
            "truthgate.retrieval_index_failures",
            "Failed updates of the search index.",
            "The log line `retrieval_index_failed`; disk space, the embeddings endpoint.",
        )
        self.indexed = instruments.counter(
            "truthgate.retrieval_documents_indexed",
            "Documents embedded and added to the search index.",
            "Many without new documents: the index was rebuilt (log line `retrieval_index_built_anew`).",
            unit="{document}",
        )

    def watch(self, updater: IndexUpdater) -> None:
        """Export the state of this index."""
        self._indexed.set_function(lambda: updater.indexed)
        self._pending.set_function(lambda: updater.pending)
        self._complete.set_function(updater.complete.is_set)
