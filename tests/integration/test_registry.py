"""The Confluent wire format over a schema registry, spoken to over HTTP on the loopback.

The registry is a small one of our own that speaks the REST protocol of Confluent's Schema
Registry: none of the products can be installed from a package index.
"""

import asyncio
import json
import logging
import time
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from typing import Any

import pytest
import pytest_asyncio
from aiohttp import web

from schemas import ChatbotAnswer, Codec, DecodeError, RegistryUnreachable, Review
from schemas.catalogue import RECORD_TYPES, current_schema
from tests.support.ports import NOBODY
from tests.support.reviews import a_review
from tests.support.small_registry import SmallRegistry, served

ANSWER = ChatbotAnswer(
    answer_id="a-1",
    conversation_id="c-1",
    question="Kan dat?",
    answer="Ja.",
    produced_at=datetime(2026, 3, 2, 9, 15, tzinfo=UTC),
)
TIMEOUT = 1.0
NOWHERE = f"http://{NOBODY}"
DEADLINE = 20.0


@pytest_asyncio.fixture
async def registry() -> AsyncIterator[tuple[SmallRegistry, str]]:
    small = SmallRegistry()
    async with served(small) as url:
        yield small, url


Running = tuple[SmallRegistry, str]


def framed(schema_id: int, body: bytes = b"") -> bytes:
    return b"\0" + schema_id.to_bytes(4, "big") + body


def body_of(answer: ChatbotAnswer) -> bytes:
    return Codec().encode(answer)[10:]


async def decode(codec: Codec, value: bytes) -> ChatbotAnswer:
    """Decode as a worker does."""
    if codec.needs_lookup(value):
        await codec.lookup(value)
    return codec.decode(value, ChatbotAnswer)


async def refusal(codec: Codec, value: bytes) -> str:
    with pytest.raises(DecodeError) as caught:
        await decode(codec, value)
    return caught.value.code


def evolved(change: Callable[[dict[str, Any]], object]) -> str:
    schema = json.loads(current_schema(ChatbotAnswer).text)
    change(schema)
    return json.dumps(schema)


async def test_prepare_registers_every_schema_under_its_record_s_name(registry):
    small, url = registry
    await Codec(url).prepare()
    assert set(small.subjects) == {f"truthgate.{kind.__name__}" for kind in RECORD_TYPES}


async def test_prepare_again_registers_nothing_new(registry):
    small, url = registry
    await Codec(url).prepare()
    before = dict(small.ids)
    await Codec(url).prepare()
    assert small.ids == before
    assert all(len(versions) == 1 for versions in small.subjects.values())


async def test_prepare_works_on_a_read_only_registry_that_has_the_schemas(registry):
    small, url = registry
    await Codec(url).prepare()
    small.read_only = True
    codec = Codec(url)
    await codec.prepare()
    assert codec.encode(ANSWER)[0] == 0


async def test_prepare_takes_only_the_records_that_are_asked_for(registry):
    small, url = registry
    codec = Codec(url)
    await codec.prepare(ChatbotAnswer)
    assert set(small.subjects) == {"truthgate.ChatbotAnswer"}
    with pytest.raises(RuntimeError, match="Review"):
        codec.encode(a_review())


async def test_a_value_has_the_magic_byte_the_id_and_the_same_data(registry):
    small, url = registry
    codec = Codec(url)
    await codec.prepare()
    value = codec.encode(ANSWER)
    assert value == framed(small.subjects["truthgate.ChatbotAnswer"][0], body_of(ANSWER))
    assert not codec.needs_lookup(value)
    assert codec.decode(value, ChatbotAnswer) == ANSWER


async def test_encoding_before_prepare_is_an_error_of_the_program():
    with pytest.raises(RuntimeError, match="prepare"):
        Codec(NOWHERE).encode(ANSWER)


async def test_single_object_values_are_still_read(registry):
    _, url = registry
    value = Codec().encode(ANSWER)
    codec = Codec(url)
    assert not codec.needs_lookup(value)
    assert codec.decode(value, ChatbotAnswer) == ANSWER


async def test_another_writer_s_schema_is_fetched_once(registry):
    small, url = registry
    theirs = evolved(lambda schema: schema["fields"].append({"name": "tone", "type": "string"}))
    value = framed(small.add(theirs), body_of(ANSWER) + b"\x0aquiet")
    codec = Codec(url)
    assert codec.needs_lookup(value)
    answers = await asyncio.gather(*(decode(codec, value) for _ in range(20)))
    assert answers == [ANSWER] * 20
    assert len(small.calls) == 1


async def test_another_writer_s_own_namespace_does_not_matter(registry):
    small, url = registry
    value = framed(small.add(evolved(lambda schema: schema.update(namespace="chat.bot"))), body_of(ANSWER))
    assert await decode(Codec(url), value) == ANSWER


async def test_data_that_does_not_fit_its_writer_s_schema_is_refused(registry):
    small, url = registry
    schema_id = small.add(current_schema(ChatbotAnswer).text)
    assert await refusal(Codec(url), framed(schema_id, body_of(ANSWER)[:-1])) == "truncated"
    assert await refusal(Codec(url), framed(schema_id)[:4]) == "truncated"


async def test_an_unknown_id_is_refused_and_asked_for_again_only_later(registry):
    small, url = registry
    now = 0.0
    codec = Codec(url, clock=lambda: now)
    assert await refusal(codec, framed(100_001)) == "unknown_schema_id"
    assert await refusal(codec, framed(100_001)) == "unknown_schema_id"
    assert len(small.calls) == 1
    small.add(current_schema(ChatbotAnswer).text)
    now = 61.0
    assert await decode(codec, framed(100_001, body_of(ANSWER))) == ANSWER


async def test_ids_that_no_registry_gives_are_refused_without_asking(registry):
    small, url = registry
    codec = Codec(url)
    for schema_id in (0, 2**31, 2**32 - 1):
        assert await refusal(codec, framed(schema_id)) == "unknown_schema_id"
    assert small.calls == []


async def test_made_up_ids_do_not_fill_the_memory(monkeypatch):
    monkeypatch.setattr("schemas.codec.MAX_REFUSALS", 10)
    codec = Codec(NOWHERE)
    for schema_id in range(2**31, 2**31 + 25):
        assert await refusal(codec, framed(schema_id)) == "unknown_schema_id"
    assert len(codec._refused) <= 10


def recursive(schema: dict[str, Any]) -> None:
    schema["fields"].append({"name": "parent", "type": ["null", "ChatbotAnswer"], "default": None})


def empty_items(schema: dict[str, Any]) -> None:
    schema["fields"].append({"name": "nothing", "type": {"type": "array", "items": "null"}})


def empty_records(schema: dict[str, Any]) -> None:
    empty = {"type": "record", "name": "Empty", "fields": [{"name": "nothing", "type": "null"}]}
    schema["fields"].append({"name": "empties", "type": {"type": "array", "items": empty}})


def folded(schema: dict[str, Any]) -> None:
    """Forty records, each twice in the next: a billion and more fields that take no bytes."""
    inner: Any = "null"
    for depth in range(40):
        pair = [{"name": "a", "type": inner}, {"name": "b", "type": f"R{depth - 1}" if depth else "null"}]
        inner = {"type": "record", "name": f"R{depth}", "fields": pair}
    schema["fields"].append({"name": "folded", "type": inner})


@pytest.mark.parametrize(
    "schema",
    [
        '"string"',
        '["null", "string"]',
        json.dumps({"type": "record", "name": "Other", "fields": []}),
        evolved(lambda schema: schema["fields"].pop(0)),
        evolved(lambda schema: schema["fields"][0].update(type="long")),
        evolved(recursive),
        evolved(empty_items),
        evolved(empty_records),
        evolved(folded),
        json.dumps({"type": "record", "name": "ChatbotAnswer", "fields": [{"name": "x", "type": "Missing"}]}),
    ],
    ids=[
        "a primitive",
        "a union",
        "another record",
        "a required field left out",
        "another type",
        "recursive",
        "items without bytes",
        "records without bytes",
        "folded",
        "a type that is not there",
    ],
)
async def test_a_schema_that_cannot_be_read_safely_is_refused_at_once(registry, schema):
    small, url = registry
    begun = time.monotonic()
    value = framed(small.add(schema), body_of(ANSWER) + b"\xfe\xff\xff\xff\xff\xff\xff\x7f")
    codec = Codec(url)
    assert await refusal(codec, value) == "incompatible_schema"
    assert await refusal(codec, value) == "incompatible_schema"
    assert len(small.calls) == 1
    assert time.monotonic() - begun < DEADLINE


@pytest.mark.parametrize("schema_type", ["JSON", "PROTOBUF"])
async def test_a_schema_that_is_not_avro_is_refused(registry, schema_type):
    small, url = registry
    value = framed(small.add('{"type": "object"}', schema_type))
    assert await refusal(Codec(url), value) == "incompatible_schema"


async def test_a_schema_of_another_of_our_records_is_refused(registry):
    small, url = registry
    value = framed(small.add(current_schema(Review).text))
    assert await refusal(Codec(url), value) == "wrong_record"


async def never(_: web.Request) -> web.Response:
    await asyncio.sleep(DEADLINE)
    return web.Response()


async def dripping(request: web.Request) -> web.StreamResponse:
    """Send a byte now and then: every single read is in time, the whole is not."""
    response = web.StreamResponse()
    await response.prepare(request)
    for _ in range(int(DEADLINE * 20)):
        await response.write(b" ")
        await asyncio.sleep(0.05)
    return response


async def failing(_: web.Request) -> web.Response:
    return web.json_response({"error_code": 50001, "message": "store"}, status=500)


async def forbidden(_: web.Request) -> web.Response:
    return web.json_response({"error_code": 40101, "message": "who"}, status=401)


async def gateway_page(_: web.Request) -> web.Response:
    return web.Response(text="<html>502</html>", content_type="text/html", status=502)


async def nonsense(_: web.Request) -> web.Response:
    return web.json_response(["not", "a", "registry"])


@pytest.mark.parametrize("fault", [never, dripping, failing, forbidden, gateway_page, nonsense])
async def test_a_registry_in_trouble_is_told_within_the_limit(registry, fault):
    small, url = registry
    small.fault = fault
    codec = Codec(url, registry_timeout=TIMEOUT)
    begun = time.monotonic()
    with pytest.raises(RegistryUnreachable, match=r"127\.0\.0\.1"):
        await codec.prepare()
    with pytest.raises(RegistryUnreachable):
        await decode(codec, framed(100_001))
    assert time.monotonic() - begun < DEADLINE / 2


async def test_a_registry_that_is_back_is_used_again(registry):
    small, url = registry
    value = framed(small.add(current_schema(ChatbotAnswer).text), body_of(ANSWER))
    codec = Codec(url, registry_timeout=TIMEOUT)
    small.fault = failing
    with pytest.raises(RegistryUnreachable):
        await decode(codec, value)
    small.fault = None
    assert await decode(codec, value) == ANSWER


async def test_many_answers_wait_for_a_silent_registry_no_longer_than_one(registry):
    small, url = registry
    small.fault = never
    codec = Codec(url, registry_timeout=TIMEOUT)
    begun = time.monotonic()
    lookups = (codec.lookup(framed(schema_id)) for schema_id in range(1, 51))
    outcomes = await asyncio.gather(*lookups, return_exceptions=True)
    assert all(isinstance(outcome, RegistryUnreachable) for outcome in outcomes)
    assert time.monotonic() - begun < DEADLINE


async def test_what_is_known_is_read_while_the_registry_is_silent(registry):
    small, url = registry
    codec = Codec(url)
    await codec.prepare()
    small.fault = never
    assert await decode(codec, codec.encode(ANSWER)) == ANSWER


async def test_no_registry_at_the_address_is_told():
    with pytest.raises(RegistryUnreachable, match="ConnectError"):
        await Codec(NOWHERE, registry_timeout=TIMEOUT).prepare()


async def test_a_schema_that_the_registry_does_not_take_is_told(registry):
    small, url = registry
    small.read_only = True
    with pytest.raises(RegistryUnreachable, match=r"Unauthorized access \(HTTP 403\)"):
        await Codec(url).prepare()


async def test_credentials_are_sent_and_appear_in_no_log_or_message(registry, caplog):
    small, url = registry
    caplog.set_level(logging.DEBUG)
    codec = Codec(url.replace("//", "//gate:s%2Fecret@"))
    await codec.prepare(ChatbotAnswer)
    small.fault = failing
    with pytest.raises(RegistryUnreachable) as caught:
        await codec.lookup(framed(7))
    assert small.credentials == {"Basic Z2F0ZTpzL2VjcmV0"}
    assert "ecret" not in caplog.text + str(caught.value)


async def test_the_program_s_own_error_is_not_taken_for_a_bad_value(registry):
    _, url = registry
    with pytest.raises(RuntimeError, match="look schema 100001 up"):
        Codec(url).decode(framed(100_001), ChatbotAnswer)
