"""A Kafka that pods and this machine reach at the same addresses, with whatever the pods speak."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from streams.embedded import EmbeddedKafka
from tests.support.certificates import Authority, Issued
from tests.support.cluster.network import Network
from tests.support.java_start import java_options
from tests.support.secure import allowing, taking_tokens
from tests.support.token_endpoint import TokenEndpoint

USER, PASSWORD = "truthgate", "not-a-real-one"

#: Listeners: SCRAM over TLS; TLS with certificates on both sides; passwords without TLS; tokens over TLS.
SCRAM, MUTUAL, PASSWORDS, TOKENS = "SCRAM", "MUTUAL", "PASSWORDS", "TOKENS"
_PROTOCOLS = {
    "PLAINTEXT": "PLAINTEXT",
    "CONTROLLER": "PLAINTEXT",
    SCRAM: "SASL_SSL",
    MUTUAL: "SSL",
    PASSWORDS: "SASL_PLAINTEXT",
    TOKENS: "SASL_SSL",
}
_MECHANISMS = ("SCRAM-SHA-256", "SCRAM-SHA-512")
_SASL = "org.apache.kafka.common.security"


@dataclass(frozen=True, slots=True)
class KafkaForPods:
    """The broker, whom it trusts, a client that it knows by its certificate, and who gives tokens."""

    broker: EmbeddedKafka
    authority: Authority
    client: Issued
    tokens: TokenEndpoint

    @property
    def bootstrap_servers(self) -> str:
        """Where anybody is served."""
        return self.broker.bootstrap_servers


@contextmanager
def kafka_for_pods(network: Network, folder: Path) -> Iterator[KafkaForPods]:
    """Start one broker at the gateway of the pods; certificates go to ``folder``."""
    host = str(network.gateway)
    authority = Authority(folder, "authority")
    users = [f"{mechanism}=[name={USER},password={PASSWORD}]" for mechanism in _MECHANISMS]
    keys = folder / "keys.json"
    with (
        TokenEndpoint(authority.issue("tokens", host=host), keys, host) as tokens,
        java_options(allowing(keys)),
        EmbeddedKafka(
            host=host,
            properties=_properties(authority.issue("broker", host=host), authority, keys),
            listeners=[SCRAM, MUTUAL, PASSWORDS, TOKENS],
            format_options=[option for user in users for option in ("--add-scram", user)],
        ) as broker,
    ):
        yield KafkaForPods(broker, authority, authority.issue("client"), tokens)


def _properties(certificate: Issued, authority: Authority, keys: Path) -> dict[str, str]:
    tls = {"ssl.keystore.type": "PEM", "ssl.keystore.location": str(certificate.both)}
    trust = {"ssl.truststore.type": "PEM", "ssl.truststore.location": str(authority.file)}
    scram = {
        f"{each.lower()}.sasl.jaas.config": f"{_SASL}.scram.ScramLoginModule required;"
        for each in _MECHANISMS
    }
    known = f'{_SASL}.plain.PlainLoginModule required user_{USER}="{PASSWORD}";'
    own = {
        SCRAM: {**tls, **scram, "sasl.enabled.mechanisms": ",".join(_MECHANISMS)},
        MUTUAL: {**tls, **trust, "ssl.client.auth": "required"},
        PASSWORDS: {"sasl.enabled.mechanisms": "PLAIN", "plain.sasl.jaas.config": known},
        TOKENS: {**tls, **taking_tokens(keys)},
    }
    return {
        "listener.security.protocol.map": ",".join(f"{name}:{how}" for name, how in _PROTOCOLS.items()),
        **{
            f"listener.name.{name.lower()}.{key}": value
            for name, properties in own.items()
            for key, value in properties.items()
        },
    }
