"""An OpenID Connect issuer on this machine: it logs one person in, or does what an issuer should not."""

import asyncio
import base64
import hashlib
import hmac
import json
import secrets
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from aiohttp import BasicAuth, web
from joserfc import jwk, jwt

from tests.support.ports import hold_port, port_of

CLIENT, SECRET = "truthgate-desk", "a client secret: for tests%"


@dataclass
class Fault:
    """What the issuer does wrong: changed claims and endpoints, an endpoint that hangs, another signature."""

    claims: Mapping[str, Any] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)
    hangs_at: str = ""
    algorithm: str = "RS256"
    own_key: bool = True
    broken_at: str = ""


@dataclass
class Grant:
    """What a code stands for, until it is used."""

    redirect_uri: str
    nonce: str
    code_challenge: str


class OidcIssuer:
    """Issues codes and tokens to one client, and holds it to the protocol (RFC 6749, RFC 7636, OIDC Core).

    Attributes:
        claims: of the person who logs in.
        fault: what it does wrong.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self.claims: dict[str, Any] = {
            "preferred_username": "Kim",
            "realm": {"roles": ["desk-lead", "other"]},
        }
        self.fault = Fault()
        self._key = jwk.RSAKey.generate_key(2048, {"kid": "one"})
        self._other_key = jwk.RSAKey.generate_key(2048, {"kid": "one"})
        self._grants: dict[str, Grant] = {}

    def application(self) -> web.Application:
        """Return its endpoints."""
        routes = web.Application(middlewares=[self._misbehave])
        routes.router.add_get("/.well-known/openid-configuration", self._describe)
        routes.router.add_get("/authorize", self._authorize)
        routes.router.add_post("/token", self._give_token)
        routes.router.add_get("/keys", self._give_keys)
        return routes

    @web.middleware
    async def _misbehave(self, request: web.Request, handler: Any) -> web.StreamResponse:
        if request.path == self.fault.hangs_at:
            await asyncio.sleep(60)
        if request.path == self.fault.broken_at:
            return web.Response(text="[[[")
        response: web.StreamResponse = await handler(request)
        return response

    async def _describe(self, _: web.Request) -> web.Response:
        paths = {"authorization_endpoint": "authorize", "token_endpoint": "token", "jwks_uri": "keys"}
        described = {name: f"{self.url}/{path}" for name, path in paths.items()}
        described |= {"issuer": self.url, "end_session_endpoint": f"{self.url}/logout"}
        return web.json_response(described | self.fault.metadata)

    async def _authorize(self, request: web.Request) -> web.Response:
        asked = request.query
        if asked["response_type"] != "code" or asked["client_id"] != CLIENT:
            raise web.HTTPBadRequest
        if "openid" not in asked["scope"].split() or asked["code_challenge_method"] != "S256":
            raise web.HTTPBadRequest
        code = secrets.token_urlsafe(16)
        self._grants[code] = Grant(asked["redirect_uri"], asked["nonce"], asked["code_challenge"])
        back = urlencode({"code": code, "state": asked["state"], "iss": self.url})
        raise web.HTTPFound(f"{asked['redirect_uri']}?{back}")

    async def _give_token(self, request: web.Request) -> web.Response:
        form = await request.post()
        # RFC 6749, 2.3.1: id and secret are form-encoded within the header, which Authlib leaves out.
        client = BasicAuth.decode(request.headers["Authorization"])
        if (client.login, client.password) != (CLIENT, SECRET):
            return web.json_response({"error": "invalid_client"}, status=401)
        grant = self._grants.pop(str(form["code"]), None)
        digest = hashlib.sha256(str(form["code_verifier"]).encode()).digest()
        if (
            grant is None
            or form["grant_type"] != "authorization_code"
            or form["redirect_uri"] != grant.redirect_uri
            or _encoded(digest) != grant.code_challenge
        ):
            return web.json_response({"error": "invalid_grant"}, status=400)
        now = int(time.time())
        claims = {
            "iss": self.url,
            "aud": CLIENT,
            "sub": "1",
            "iat": now,
            "exp": now + 300,
            "nonce": grant.nonce,
        }
        claims |= self.claims | self.fault.claims
        claims = {name: value for name, value in claims.items() if value is not None}
        token = {
            "access_token": secrets.token_urlsafe(16),
            "token_type": "Bearer",
            "id_token": self._sign(claims),
        }
        return web.json_response(token)

    def _sign(self, claims: dict[str, Any]) -> str:
        header = {"alg": self.fault.algorithm, "kid": "one"}
        if self.fault.algorithm not in {"none", "HS256"}:
            return jwt.encode(header, claims, self._key if self.fault.own_key else self._other_key)
        # No library signs like this: not at all, or with the public key as a shared secret.
        signed = ".".join(_encoded(json.dumps(part).encode()) for part in (header, claims))
        signature = hmac.digest(self._key.as_pem(private=False), signed.encode(), "sha256")
        return f"{signed}.{_encoded(signature) if self.fault.algorithm == 'HS256' else ''}"

    async def _give_keys(self, _: web.Request) -> web.Response:
        return web.json_response({"keys": [{**self._key.as_dict(private=False), "use": "sig"}]})


def _encoded(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).decode().rstrip("=")


@asynccontextmanager
async def oidc_issuer(host: str = "127.0.0.1") -> AsyncIterator[OidcIssuer]:
    """Run an issuer in the test's event loop, under a name of this machine."""
    with hold_port() as port:
        issuer = OidcIssuer(f"http://{host}:{port_of(port)}")
        runner = web.AppRunner(issuer.application(), shutdown_timeout=0.1)
        await runner.setup()
        try:
            await web.TCPSite(runner, "127.0.0.1", port_of(port), reuse_address=True).start()
            yield issuer
        finally:
            await runner.cleanup()
