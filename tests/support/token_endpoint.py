"""An OAuth token endpoint on this machine: it signs tokens, or does what it should not."""

import json
import ssl
import sys
import threading
import time
from base64 import b64decode, urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs, unquote_plus

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from streams.embedded.broker_properties import LOOPBACK
from tests.support.certificates import Issued
from tests.support.local_http import QuietHandler

CLIENT, SECRET = "truthgate worker", "a client secret: for tests%"
AUDIENCE = "kafka"


@dataclass(frozen=True)
class Behaviour:
    """How a request is answered: as an endpoint should, but for what is set here."""

    #: Seconds a token is good for.
    lifetime: float = 300
    #: Whom the token is for.
    audience: str = AUDIENCE
    #: Changes of the answer's fields; None takes one away.
    fields: Mapping[str, Any] = field(default_factory=dict)
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    #: Send this body in place of an answer.
    body: bytes | None = None
    #: Send the body a byte at a time, one every so many seconds.
    drip: float = 0.0


@dataclass(frozen=True)
class Asked:
    """One request as it came."""

    headers: Mapping[str, str]
    form: Mapping[str, list[str]]


class TokenEndpoint:
    """Gives tokens to one client: ``with TokenEndpoint() as endpoint: endpoint.url``.

    Args:
        certificate: what it shows for TLS; None for plain HTTP.
        keys: where it writes the JSON Web Key Set (RFC 7517) by which others check its tokens.
        host: the address where it listens.
    """

    def __init__(
        self, certificate: Issued | None = None, keys: Path | None = None, host: str = LOOPBACK
    ) -> None:
        self._key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        if keys:
            keys.write_text(json.dumps({"keys": [self._public_key()]}))
        self.behaviour = Behaviour()
        self.asked: list[Asked] = []
        self._ending = threading.Event()
        self._server = _Server((host, 0), _handler(self))
        if certificate:
            context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
            context.load_cert_chain(certificate.certificate, certificate.key)
            self._server.socket = context.wrap_socket(
                self._server.socket, server_side=True, do_handshake_on_connect=False
            )
        scheme = "https" if certificate else "http"
        self.url = f"{scheme}://{host}:{self._server.server_port}/token"
        self._thread = threading.Thread(target=self._server.serve_forever, name="tokens", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._ending.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(10)

    def answer(self, asked: Asked) -> tuple[int, bytes]:
        """Give status and body for a request."""
        self.asked.append(asked)
        scheme, _, credentials = asked.headers.get("authorization", "").partition(" ")
        name, _, secret = b64decode(credentials).decode().partition(":")
        if scheme != "Basic" or (unquote_plus(name), unquote_plus(secret)) != (CLIENT, SECRET):
            return 401, b'{"error": "invalid_client", "error_description": "what it was sent"}'
        if asked.form.get("grant_type") != ["client_credentials"]:
            return 400, b'{"error": "unsupported_grant_type"}'
        answer = {
            "access_token": self.token(),
            "token_type": "Bearer",
            "expires_in": int(self.behaviour.lifetime),
            **self.behaviour.fields,
        }
        return 200, json.dumps({name: value for name, value in answer.items() if value is not None}).encode()

    def token(self) -> str:
        """Sign a token (RFC 7519) for the client."""
        now = time.time()
        claims = {
            "iss": "tests",
            "sub": CLIENT,
            "aud": self.behaviour.audience,
            "scope": "kafka",
            "iat": int(now),
            "exp": int(now + self.behaviour.lifetime),
        }
        head = {"alg": "RS256", "typ": "JWT", "kid": "1"}
        signed = b".".join(_base64(json.dumps(part).encode()) for part in (head, claims))
        signature = self._key.sign(signed, padding.PKCS1v15(), hashes.SHA256())
        return b".".join([signed, _base64(signature)]).decode()

    def _public_key(self) -> dict[str, str]:
        public = self._key.public_key().public_numbers()
        numbers = {"n": _number(public.n), "e": _number(public.e)}
        return {"kty": "RSA", "kid": "1", "use": "sig", "alg": "RS256", **numbers}

    def send(self, body: bytes, write: Any) -> None:
        """Send a body as fast as it is to be."""
        if not self.behaviour.drip:
            write(body)
            return
        for byte in body:
            write(bytes([byte]))
            if self._ending.wait(self.behaviour.drip):
                return


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a client that breaks off, as one that does not trust the certificate does."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


def _handler(endpoint: TokenEndpoint) -> type[BaseHTTPRequestHandler]:
    class Handler(QuietHandler):
        timeout = 30

        def do_POST(self) -> None:
            form = parse_qs(self.read_body().decode())
            behaviour = endpoint.behaviour
            status, body = endpoint.answer(Asked({k.lower(): v for k, v in self.headers.items()}, form))
            body = body if behaviour.body is None else behaviour.body
            try:
                self.send_response(behaviour.status or status)
                for name, value in behaviour.headers.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                endpoint.send(body, self.wfile.write)
            except (BrokenPipeError, ConnectionResetError, ssl.SSLError):
                self.close_connection = True  # whoever asked has given up, as it should

    return Handler


def _base64(content: bytes) -> bytes:
    return urlsafe_b64encode(content).rstrip(b"=")


def _number(value: int) -> str:
    return _base64(value.to_bytes((value.bit_length() + 7) // 8, "big")).decode()
