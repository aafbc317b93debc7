"""The schema registry: ids of our schemas, writers' schemas by id, and which of these we can read.

Subjects are named after the record (RecordNameStrategy, such as ``truthgate.Verdict``): three
topics carry the same Verdict, and one subject keeps them from drifting apart. Writers of the
input topics may name their subjects as they like: a schema is fetched by its id alone.
"""

import asyncio
import json
from collections.abc import Awaitable
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit, urlunsplit

import httpx2
from schema_registry.client import AsyncSchemaRegistryClient
from schema_registry.client.errors import ClientError
from schema_registry.client.schema import AvroSchema

from schemas.admission import accept_writer_schema
from schemas.catalogue import RecordSchema
from schemas.validation import DecodeError, RegistryUnreachable

T = TypeVar("T")

MAX_SCHEMA_ID = 2**31 - 1
"""Ids are positive 32-bit integers; a registry answers other numbers with errors of all kinds."""

_UNREACHABLE_ERRORS = (
    httpx2.HTTPError,
    httpx2.InvalidURL,
    TimeoutError,
    ClientError,
    json.JSONDecodeError,  # such as the HTML page of a proxy in between
    KeyError,
    AttributeError,
    TypeError,
)


class SchemaRegistry:
    """A schema registry under ``url`` (http or https, credentials in it if need be).

    Every call ends within ``timeout`` seconds. Raises ValueError if the URL is none.
    """

    def __init__(self, url: str, timeout: float) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("the schema registry's URL should look like http://host:8081")
        self._host = parts.hostname
        self._timeout = timeout
        self._client = _Client(
            # The URL is logged by httpx2: it must not hold the credentials.
            urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2])),
            httpx2.BasicAuth(unquote(parts.username or ""), unquote(parts.password or "")),
            timeout,
        )

    async def register(self, schema: RecordSchema) -> int:
        """Return the id of one of our schemas; register it first if the registry has no such version.

        Raises RegistryUnreachable, also if the registry refuses the schema.
        """
        return await self._with_timeout(self._client.register(schema.name, schema.text))

    async def fetch(self, schema_id: int) -> RecordSchema:
        """Fetch the writer schema with this id.

        Raises RegistryUnreachable if there is no answer, DecodeError ``unknown_schema_id`` or
        ``incompatible_schema`` if there is and the data cannot be read.
        """
        if not 1 <= schema_id <= MAX_SCHEMA_ID:
            raise unknown_schema_id(schema_id)
        return accept_writer_schema(await self._with_timeout(self._fetch_text(schema_id)))

    async def _fetch_text(self, schema_id: int) -> str:
        try:
            schema = await self._client.get_by_id(schema_id)
        except _UNREACHABLE_ERRORS:
            raise
        except Exception as error:  # noqa: BLE001 - another system's schema, and three parsers for it
            raise DecodeError(
                "incompatible_schema", f"schema {schema_id} cannot be parsed ({type(error).__name__})"
            ) from None
        if schema is None:
            raise unknown_schema_id(schema_id)
        if not isinstance(schema, AvroSchema):
            raise DecodeError("incompatible_schema", f"schema {schema_id} is no Avro schema")
        return json.dumps(schema.raw_schema)

    async def _with_timeout(self, call: Awaitable[T]) -> T:
        try:
            async with asyncio.timeout(self._timeout):
                return await call
        except _UNREACHABLE_ERRORS as error:
            raise RegistryUnreachable(f"schema registry {self._host}: {_reason(error)}") from error


class _Client(AsyncSchemaRegistryClient):
    """Sends the library's requests with httpx2."""

    def __init__(self, url: str, credentials: httpx2.Auth, seconds: float) -> None:
        super().__init__(url)
        self._credentials = credentials
        self._seconds = seconds

    async def request(  # type: ignore[override] # it reads httpx2's responses as it does httpx's
        self, url: str, method: str = "GET", body: dict[str, Any] | None = None, **_: object
    ) -> httpx2.Response:
        async with httpx2.AsyncClient(auth=self._credentials, timeout=self._seconds) as client:
            return await client.request(method, url, headers=self.prepare_headers(body), json=body)


def unknown_schema_id(schema_id: int) -> DecodeError:
    """Make the error for an id that the registry does not have."""
    return DecodeError("unknown_schema_id", f"the schema registry has no schema {schema_id}")


def _reason(error: Exception) -> str:
    if isinstance(error, ClientError):
        return f"{error.message} (HTTP {error.http_code})"
    return f"no usable answer ({type(error).__name__})"
