"""What the worker counts and measures of retrieval."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge

from streams.retrieval.upkeep import IndexUpkeep


class RetrievalTelemetry:
    """The instruments of the index that answers without context are judged by."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._indexed = Gauge(
            "truthgate_retrieval_documents", "Documents in the index of retrieval.", registry=registry
        )
        self._to_do = Gauge(
            "truthgate_retrieval_documents_pending",
            "Documents that are still to be put into the index of retrieval, or taken out.",
            registry=registry,
        )
        self._complete = Gauge(
            "truthgate_retrieval_complete",
            "Whether the index has had every document (1), so that answers are judged by it.",
            registry=registry,
        )
        self.failures = Counter(
            "truthgate_retrieval_index_failures",
            "Times that the index of retrieval could not be brought up to date.",
            registry=registry,
        )

        self.indexed = Counter(
            "truthgate_retrieval_documents_indexed",
            "Documents embedded and put into the index of retrieval.",
            registry=registry,
        )

    def watch(self, upkeep: IndexUpkeep) -> None:
        """Show the state of this index."""
        self._indexed.set_function(lambda: upkeep.indexed)
        self._to_do.set_function(lambda: upkeep.to_do)
        self._complete.set_function(upkeep.complete.is_set)
