"""The hash of several texts, in which no text can pass for two."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b


def hash_of(texts: Iterable[str], size: int) -> str:
    """Return a hash of texts in their order, in hexadecimal; ``size`` is in bytes."""
    digest = blake2b(digest_size=size)
    for text in texts:
        content = text.encode("utf-8", "surrogatepass")
        digest.update(len(content).to_bytes(8, "little") + content)
    return digest.hexdigest()
