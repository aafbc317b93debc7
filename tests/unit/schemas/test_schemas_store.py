"""Schemas of other releases: looked up where their writers published them, and never guessed."""

import asyncio
from collections.abc import Iterable

import pytest

from schemas import ChatbotAnswer, Codec, DecodeError, Pause, RegistryUnreachable
from schemas.catalogue import RECORD_TYPES, RecordSchema, current_schema
from schemas.codec import REFUSAL_LIFETIME
from tests.support.record_strategies import ANSWER
from tests.support.releases import later_schema, written_with

LATER = later_schema(ChatbotAnswer, default="")
VALUE = written_with(LATER, ANSWER, added="new")


class Store:
    """Schemas in memory; ``away`` is a store that does not answer."""

    def __init__(self, *texts: RecordSchema, away: bool = False) -> None:
        self.texts = {each.fingerprint: each.text for each in texts}
        self.asked: list[bytes] = []
        self.away = away

    async def publish(self, schemas: Iterable[RecordSchema]) -> None:
        self.texts |= {each.fingerprint: each.text for each in schemas}

    async def find(self, fingerprint: bytes) -> str | None:
        self.asked.append(fingerprint)
        await asyncio.sleep(0)
        if self.away:
            raise RegistryUnreachable("away")
        return self.texts.get(fingerprint)


async def read(codec: Codec, value: bytes = VALUE) -> ChatbotAnswer:
    await codec.lookup(value)
    return codec.decode(value, ChatbotAnswer)


async def refusal(codec: Codec, value: bytes = VALUE) -> str:
    with pytest.raises(DecodeError) as caught:
        await read(codec, value)
    return caught.value.code


async def test_what_a_later_release_wrote_is_read_with_the_schema_that_it_published():
    store = Store(LATER)
    codec = Codec(store=store)
    assert codec.needs_lookup(VALUE)
    assert await read(codec) == ANSWER
    assert await read(codec) == ANSWER
    assert store.asked == [LATER.fingerprint], "it is remembered"


async def test_what_is_shipped_is_never_looked_up():
    store = Store()
    assert await read(Codec(store=store), Codec().encode(ANSWER)) == ANSWER
    assert store.asked == []


async def test_a_schema_that_is_not_there_is_asked_for_again_after_a_while():
    store, now = Store(), 0.0
    codec = Codec(store=store, clock=lambda: now)
    assert [await refusal(codec), await refusal(codec)] == ["unknown_fingerprint"] * 2
    assert len(store.asked) == 1
    await store.publish([LATER])
    now = REFUSAL_LIFETIME
    assert await read(codec) == ANSWER


async def test_a_schema_under_another_s_fingerprint_is_not_used():
    store = Store()
    store.texts[LATER.fingerprint] = current_schema(ChatbotAnswer).text
    assert await refusal(Codec(store=store)) == "unknown_fingerprint"


@pytest.mark.parametrize("text", ["", "{", '"string"', "[]", '{"type": "record", "name": "Foreign"}'])
async def test_what_is_no_schema_of_ours_is_refused(text):
    store = Store()
    store.texts[LATER.fingerprint] = text
    assert await refusal(Codec(store=store)) in {"incompatible_schema", "unknown_fingerprint"}


async def test_a_later_schema_that_ours_cannot_be_read_from_is_refused_as_that():
    schema = later_schema(ChatbotAnswer)
    broken = schema.text.replace('"name": "answer_id"', '"name": "other_id"')
    store = Store()
    store.texts[LATER.fingerprint] = broken
    assert await refusal(Codec(store=store)) == "incompatible_schema"


async def test_a_store_that_does_not_answer_is_no_fault_of_the_value():
    store = Store(LATER, away=True)
    codec = Codec(store=store)
    with pytest.raises(RegistryUnreachable):
        await read(codec)
    store.away = False
    assert await read(codec) == ANSWER


@pytest.mark.parametrize("value", [None, b"", b"\xc3\x01", b"\xc3\x01\x00", b"{}", b"\0\0\0\0\1"])
async def test_what_has_no_fingerprint_is_not_looked_up(value):
    store = Store()
    codec = Codec(store=store)
    assert not codec.needs_lookup(value)
    await codec.lookup(value)
    assert store.asked == []


async def test_the_schemas_that_are_written_are_published_before():
    store = Store()
    await Codec(store=store).prepare(Pause)
    assert store.texts == {current_schema(Pause).fingerprint: current_schema(Pause).text}
    await Codec(store=store).prepare()
    assert len(store.texts) == len(RECORD_TYPES)
