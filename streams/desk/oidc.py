"""Login by an OpenID Connect issuer: authorization code with PKCE, by Authlib."""

import asyncio
import hmac
import secrets
import ssl
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar
from urllib.parse import urlencode, urlsplit

import httpx2
from authlib.common.errors import AuthlibBaseError
from authlib.integrations.httpx_client import AsyncOAuth2Client
from authlib.oidc.core import CodeIDToken
from authlib.oidc.discovery import get_well_known_url
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

from streams.settings import DeskSettings

#: Signatures that only the issuer can make: neither none nor those with a shared secret.
_ALGORITHMS: Final = (
    "RS256",
    "RS384",
    "RS512",
    "PS256",
    "PS384",
    "PS512",
    "ES256",
    "ES384",
    "ES512",
    "EdDSA",
)
#: Clocks differ.
_LEEWAY_SECONDS: Final = 60
_Found = TypeVar("_Found")
_ENDPOINTS: Final = ("authorization_endpoint", "token_endpoint", "jwks_uri")


class OidcRefusal(Exception):
    """A login failed; the message says why, without anything secret.

    Args:
        text: why, as the catalogues have it.
        detail: what differs from case to case, not translated.
    """

    def __init__(self, text: str, detail: str | None = None) -> None:
        super().__init__(f"{text} ({detail})" if detail else text)
        self.text = text
        self.detail = detail


@dataclass(frozen=True, slots=True)
class LoginAttempt:
    """What ties an answer of the issuer to the browser that asked."""

    state: str
    nonce: str
    code_verifier: str


class OidcClient:
    """The desk as a client of an issuer.

    The issuer's addresses and keys are asked for at each login, so that they are never out of date.

    Args:
        settings: section ``desk``; its ``oidc.issuer`` is set.
    """

    def __init__(self, settings: DeskSettings) -> None:
        self._settings = settings.oidc
        self._issuer = settings.oidc.issuer or ""
        self._public_url = settings.public_url or ""
        self._tls = ssl.create_default_context()

    async def begin(self) -> tuple[str, LoginAttempt]:
        """Return the address at the issuer where a person logs in, and what to keep. Raises OidcRefusal."""
        attempt = LoginAttempt(*(secrets.token_urlsafe(32) for _ in range(3)))
        endpoints = await self._within(self._endpoints())
        async with self._client(endpoints) as client:
            address, _ = client.create_authorization_url(
                endpoints["authorization_endpoint"],
                state=attempt.state,
                nonce=attempt.nonce,
                code_verifier=attempt.code_verifier,
            )
        return address, attempt

    async def finish(self, attempt: LoginAttempt, query: Mapping[str, str]) -> Mapping[str, Any]:
        """Return the verified claims of the person who comes back with this query. Raises OidcRefusal."""
        if not hmac.compare_digest(attempt.state.encode(), query.get("state", "").encode("utf-8", "replace")):
            raise OidcRefusal("the state is not that of this login")
        if query.get("iss", self._issuer) != self._issuer:  # RFC 9207
            raise OidcRefusal("another issuer answered")
        if "code" not in query:
            raise OidcRefusal("the issuer gave no code")
        return await self._within(self._claims(attempt, query["code"]))

    async def logout_address(self) -> str | None:
        """Return the address that ends the person's session at the issuer too, or None if there is none."""
        try:
            endpoint = (await self._within(self._endpoints())).get("end_session_endpoint")
        except OidcRefusal:
            return None
        if not isinstance(endpoint, str) or not self._is_safe(endpoint):
            return None
        back = {
            "client_id": self._settings.client_id,
            "post_logout_redirect_uri": f"{self._public_url}/login",
        }
        return f"{endpoint}{'&' if '?' in endpoint else '?'}{urlencode(back)}"

    async def _within(self, asking: Awaitable[_Found]) -> _Found:
        try:
            async with asyncio.timeout(self._settings.timeout_seconds):
                return await asking
        except (TimeoutError, httpx2.TimeoutException) as error:
            raise OidcRefusal("the issuer does not answer in time") from error
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
            raise OidcRefusal("the issuer cannot be reached", type(error).__name__) from error
        except (AuthlibBaseError, JoseError) as error:
            raise OidcRefusal("the issuer's answer is refused", error.error) from error
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise OidcRefusal("the issuer's answer cannot be read", type(error).__name__) from error

    async def _endpoints(self) -> dict[str, Any]:
        address = get_well_known_url(self._issuer, external=True)
        endpoints: dict[str, Any] = await self._get(address)
        if endpoints.get("issuer") != self._issuer:
            raise OidcRefusal("the issuer has another name than desk.oidc.issuer")
        if not all(self._is_safe(endpoints[each]) for each in _ENDPOINTS):
            raise OidcRefusal("an endpoint of the issuer is not https")
        return endpoints

    async def _claims(self, attempt: LoginAttempt, code: str) -> Mapping[str, Any]:
        endpoints = await self._endpoints()
        async with self._client(endpoints) as client:
            granted = await client.fetch_token(
                endpoints["token_endpoint"],
                grant_type="authorization_code",
                code=code,
                code_verifier=attempt.code_verifier,
            )
        keys = KeySet.import_key_set(await self._get(endpoints["jwks_uri"]))
        decoded = jwt.decode(granted["id_token"], keys, algorithms=_ALGORITHMS)
        client_id = self._settings.client_id
        claims = CodeIDToken(
            decoded.claims,
            decoded.header,
            {
                "iss": {"essential": True, "value": self._issuer},
                "aud": {"essential": True, "value": client_id},
            },
            {
                "nonce": attempt.nonce,
                "client_id": client_id,
                "access_token": granted.get("access_token"),
            },
        )
        claims.validate(leeway=_LEEWAY_SECONDS)
        return dict(claims)

    def _client(self, endpoints: Mapping[str, Any]) -> AsyncOAuth2Client:
        secret = self._settings.client_secret
        methods = endpoints.get("token_endpoint_auth_methods_supported", ["client_secret_basic"])
        by_header = "client_secret_basic" in methods
        return AsyncOAuth2Client(
            self._settings.client_id,
            secret.get_secret_value() if secret else None,
            token_endpoint_auth_method=(
                "none" if secret is None else "client_secret_basic" if by_header else "client_secret_post"
            ),
            scope=self._settings.scope,
            redirect_uri=f"{self._public_url}/oidc/callback",
            code_challenge_method="S256",
            verify=self._tls,
        )

    async def _get(self, address: str) -> Any:
        async with httpx2.AsyncClient(verify=self._tls) as client:
            response = await client.get(address)
        response.raise_for_status()
        return response.json()

    def _is_safe(self, address: str) -> bool:
        return urlsplit(address).scheme in {"https", urlsplit(self._issuer).scheme}
