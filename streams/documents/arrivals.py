"""Waiting for documents that are not there yet."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable


class Arrivals:
    """Wakes whoever waits for a document, once it has arrived. For one event loop, not for threads."""

    def __init__(self) -> None:
        self._waiting: dict[str, set[asyncio.Future[None]]] = {}

    def __len__(self) -> int:
        return len(self._waiting)

    async def wait(self, document_ids: Iterable[str], seconds: float) -> None:
        """Return when each of the documents has arrived, or after that many seconds."""
        futures = {document_id: asyncio.get_running_loop().create_future() for document_id in document_ids}
        for document_id, future in futures.items():
            self._waiting.setdefault(document_id, set()).add(future)
        try:
            if futures:
                await asyncio.wait(futures.values(), timeout=seconds)
        finally:
            for document_id, future in futures.items():
                self._forget(document_id, future)

    def announce(self, document_ids: Iterable[str]) -> None:
        """Wake everyone who waits for one of these documents."""
        for document_id in document_ids:
            for future in self._waiting.get(document_id, ()):
                if not future.done():
                    future.set_result(None)

    def _forget(self, document_id: str, future: asyncio.Future[None]) -> None:
        waiting = self._waiting[document_id]
        waiting.discard(future)
        if not waiting:
            del self._waiting[document_id]
