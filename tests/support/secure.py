"""A real Kafka that asks who its clients are: by passwords, by their certificates, or by tokens."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from streams.embedded import EmbeddedKafka
from streams.settings import KafkaSettings
from tests.support.certificates import Authority, Issued
from tests.support.java_start import java_options
from tests.support.token_endpoint import AUDIENCE, CLIENT, SECRET, TokenEndpoint

USER, PASSWORD = "judge", "a password for tests"

#: SCRAM over TLS; the same behind a certificate that expired; behind one of another host; TLS both ways;
#: tokens over TLS.
SCRAM, EXPIRED, MISNAMED, MUTUAL, OAUTH = "SCRAM", "EXPIRED", "MISNAMED", "MUTUAL", "OAUTH"
_PROTOCOLS = {SCRAM: "SASL_SSL", EXPIRED: "SASL_SSL", MISNAMED: "SASL_SSL", MUTUAL: "SSL", OAUTH: "SASL_SSL"}
_SASL = "org.apache.kafka.common.security"


@dataclass(frozen=True)
class SecureCluster:
    """A cluster with a listener of each kind, all on the loopback interface."""

    kafka: EmbeddedKafka
    authority: Authority
    stranger: Authority
    client: Issued
    tokens: TokenEndpoint

    def scram(self, listener: str = SCRAM, **changes: object) -> KafkaSettings:
        """Give what reaches a listener by user and password."""
        values: dict[str, object] = {
            "bootstrap_servers": self.kafka.listener_servers(listener),
            "security_protocol": "SASL_SSL",
            "sasl_username": USER,
            "sasl_password": PASSWORD,
            "ssl_cafile": self.authority.file,
            "connect_timeout_seconds": 30,
        }
        return KafkaSettings.model_validate(values | changes)

    def mutual(self, **changes: object) -> KafkaSettings:
        """Give what reaches the listener that asks for a client's certificate."""
        values: dict[str, object] = {
            "bootstrap_servers": self.kafka.listener_servers(MUTUAL),
            "security_protocol": "SSL",
            "ssl_cafile": self.authority.file,
            "ssl_certfile": self.client.certificate,
            "ssl_keyfile": self.client.key,
            "connect_timeout_seconds": 30,
        }
        return KafkaSettings.model_validate(values | changes)

    def by_token(
        self, oauth: Mapping[str, object] = MappingProxyType({}), **changes: object
    ) -> KafkaSettings:
        """Give what reaches the listener that takes tokens; ``oauth`` changes how one is asked for."""
        client: dict[str, object] = {
            "token_url": self.tokens.url,
            "scope": "kafka",
        }
        values: dict[str, object] = {
            "bootstrap_servers": self.kafka.listener_servers(OAUTH),
            "security_protocol": "SASL_SSL",
            "sasl_mechanism": "OAUTHBEARER",
            "sasl_username": CLIENT,
            "sasl_password": SECRET,
            "oauth": {**client, **oauth},
            "ssl_cafile": self.authority.file,
            "connect_timeout_seconds": 30,
        }
        return KafkaSettings.model_validate(values | changes)


def secrets_in_files(settings: KafkaSettings, folder: Path) -> dict[str, str]:
    """Write the secrets of these settings to files, and give the variables that name them instead."""
    found = {"SASL_PASSWORD": settings.sasl_password, "SSL_KEY_PASSWORD": settings.ssl_key_password}
    variables = {}
    for name, secret in found.items():
        if secret:
            file = folder / name
            file.write_text(f"{secret.get_secret_value()}\n")
            variables[f"TRUTHGATE_KAFKA__{name}_FILE"] = str(file)
            variables[f"TRUTHGATE_KAFKA__{name}"] = ""
    return variables


@contextmanager
def secure_cluster(folder: Path) -> Iterator[SecureCluster]:
    """Start one broker with all listeners."""
    authority, stranger = Authority(folder, "authority"), Authority(folder, "stranger")
    certificates = {
        SCRAM: authority.issue("broker"),
        EXPIRED: authority.issue("expired-broker", expired=True),
        MISNAMED: authority.issue("misnamed-broker", host="kafka.example.com"),
        MUTUAL: authority.issue("strict-broker"),
        OAUTH: authority.issue("token-broker"),
    }
    keys = folder / "keys.json"
    with (
        TokenEndpoint(authority.issue("tokens"), keys) as tokens,
        java_options(allowing(keys)),
        EmbeddedKafka(
            properties=_properties(certificates, authority, keys),
            listeners=list(certificates),
            format_options=["--add-scram", f"SCRAM-SHA-512=[name={USER},password={PASSWORD}]"],
        ) as kafka,
    ):
        yield SecureCluster(kafka, authority, stranger, authority.issue("client"), tokens)


def _properties(certificates: Mapping[str, Issued], authority: Authority, keys: Path) -> dict[str, str]:
    spoken = {"PLAINTEXT": "PLAINTEXT", "CONTROLLER": "PLAINTEXT", **_PROTOCOLS}
    properties = {"listener.security.protocol.map": ",".join(f"{name}:{how}" for name, how in spoken.items())}
    for name, certificate in certificates.items():
        tls = {"ssl.keystore.type": "PEM", "ssl.keystore.location": str(certificate.both)}
        own = tls | _OWN.get(name, _SCRAM)
        properties |= {f"listener.name.{name.lower()}.{key}": value for key, value in own.items()}
    tokens = {f"listener.name.oauth.{key}": value for key, value in taking_tokens(keys).items()}
    return properties | {"listener.name.mutual.ssl.truststore.location": str(authority.file), **tokens}


def allowing(keys: Path) -> str:
    """Give the option with which Java reads a key set from a file."""
    return f"-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls={keys.as_uri()}"


def taking_tokens(keys: Path) -> dict[str, str]:
    """Give the properties of a listener that takes tokens, of those whose keys are in the file."""
    handler = f"{_SASL}.oauthbearer.OAuthBearerValidatorCallbackHandler"
    return {
        "sasl.enabled.mechanisms": "OAUTHBEARER",
        "oauthbearer.sasl.jaas.config": f"{_SASL}.oauthbearer.OAuthBearerLoginModule required;",
        "oauthbearer.sasl.server.callback.handler.class": handler,
        "sasl.oauthbearer.expected.audience": AUDIENCE,
        "sasl.oauthbearer.jwks.endpoint.url": keys.as_uri(),
        # Sessions end with their tokens, so that a client must come back with another one.
        "connections.max.reauth.ms": "3600000",
    }


_SCRAM = {
    "sasl.enabled.mechanisms": "SCRAM-SHA-512",
    "scram-sha-512.sasl.jaas.config": f"{_SASL}.scram.ScramLoginModule required;",
}
_OWN = {
    MUTUAL: {"ssl.client.auth": "required", "ssl.truststore.type": "PEM"},
    OAUTH: {},
}
