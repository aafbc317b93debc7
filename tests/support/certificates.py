"""Certificates of an authority that lives as long as a test: of servers and clients, good and expired."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import trustme
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from streams.embedded.broker_properties import LOOPBACK


@dataclass(frozen=True, slots=True)
class Issued:
    """A certificate with its chain, its key, and both in one file, as Kafka takes them."""

    certificate: Path
    key: Path
    both: Path


class Authority:
    """An authority whose certificate is at ``file``; it writes what it issues beside that."""

    def __init__(self, folder: Path, name: str) -> None:
        self._authority = trustme.CA(organization_name=name)
        self._folder = folder
        self.file = folder / f"{name}.pem"
        self._authority.cert_pem.write_to_path(self.file)

    def issue(self, name: str, *, expired: bool = False, host: str = LOOPBACK) -> Issued:
        """Issue a certificate for ``host``, in force since long or expired since an hour."""
        now = datetime.now(UTC)
        end = now - timedelta(hours=1) if expired else now + timedelta(days=2)
        issued = self._authority.issue_cert(
            host, common_name=name, not_before=now - timedelta(days=30), not_after=end
        )
        # Java reads keys as PKCS 8 alone.
        key = load_pem_private_key(issued.private_key_pem.bytes(), None).private_bytes(
            Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()
        )
        chain = b"".join(part.bytes() for part in issued.cert_chain_pems)
        return Issued(
            self._written(f"{name}.crt", chain),
            self._written(f"{name}.key", key),
            self._written(f"{name}.both", key + chain),
        )

    def _written(self, name: str, content: bytes) -> Path:
        path = self._folder / name
        path.write_bytes(content)
        return path
