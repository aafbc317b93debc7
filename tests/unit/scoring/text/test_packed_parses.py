import zlib
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring.text.parsing.parse import Parse, read_only, stop_flags
from scoring.text.parsing.parse_cache import PackedParseError, pack_parse, unpack_parse
from tests.unit.scoring.scoring_support import LEXICONS, prepared

WORDS = st.text(max_size=8) | st.sampled_from(["the", "not", "save", "NOUN", "nsubj", "'s", "\ud800"])


@st.composite
def parses(draw):
    count = draw(st.integers(0, 12))
    column = st.lists(WORDS, min_size=count, max_size=count).map(tuple)
    head = st.lists(st.integers(0, max(count - 1, 0)), min_size=count, max_size=count)
    starts = sorted(draw(st.lists(st.integers(0, 2**30), min_size=count, max_size=count)))
    lengths = draw(st.lists(st.integers(1, 1_000), min_size=count, max_size=count))
    lemma = draw(column)
    return Parse(
        text=draw(column),
        lemma=lemma,
        pos=draw(column),
        dep=draw(column),
        head=read_only(np.array(draw(head), dtype=np.int32)),
        start=read_only(np.array(starts, dtype=np.int32)),
        end=read_only(np.array([s + n for s, n in zip(starts, lengths, strict=True)], dtype=np.int32)),
        is_stop=stop_flags(lemma, LEXICONS["en"]),
    )


def assert_same(one, other):
    for field in fields(Parse):
        mine, theirs = getattr(one, field.name), getattr(other, field.name)
        assert type(mine) is type(theirs)
        if isinstance(mine, np.ndarray):
            assert (mine.dtype, mine.flags.writeable) == (theirs.dtype, theirs.flags.writeable)
            assert mine.tolist() == theirs.tolist()
        else:
            assert mine == theirs


@given(parses())
def test_what_is_packed_is_unpacked_in_every_column(parse):
    assert_same(unpack_parse(pack_parse(parse), LEXICONS["en"]), parse)


@settings(deadline=None, max_examples=25)
@given(st.text(st.sampled_from("aB1 .\n*_`#-[](<>)b/\0'\u200bİ"), max_size=80), st.sampled_from(["en", "nl"]))
def test_the_parse_of_any_text_is_unpacked_in_every_column(text, language):
    parse = prepared(text, language).parse
    assert_same(unpack_parse(pack_parse(parse), LEXICONS[language]), parse)


def test_stop_words_are_those_of_the_lexicon_that_reads_it():
    parse = prepared("You do not send it.").parse
    assert_same(unpack_parse(pack_parse(parse), LEXICONS["en"]), parse)
    assert unpack_parse(pack_parse(parse), LEXICONS["nl"]).is_stop.tolist() != parse.is_stop.tolist()


@given(st.binary(max_size=200), st.booleans())
def test_bytes_that_are_no_parse_are_refused(content, compressed):
    with pytest.raises(PackedParseError):
        unpack_parse(zlib.compress(content) if compressed else content, LEXICONS["en"])


@settings(max_examples=30)
@given(parses().map(pack_parse).filter(lambda packed: len(packed) > 40), st.data())
def test_a_parse_that_was_cut_short_is_refused(packed, data):
    with pytest.raises(PackedParseError):
        unpack_parse(packed[: data.draw(st.integers(0, len(packed) - 1))], LEXICONS["en"])


def test_a_few_bytes_do_not_unfold_to_all_the_memory_there_is():
    with pytest.raises(PackedParseError):
        unpack_parse(zlib.compress(bytes(20_000_000)), LEXICONS["en"])


@pytest.mark.parametrize("row", [0, 3, 4])
@pytest.mark.parametrize("number", [-1, 2**20])
def test_a_number_that_names_no_word_or_token_is_refused(row, number):
    parse = prepared("Send it.").parse
    content = zlib.decompress(pack_parse(parse))
    after = 4 + int.from_bytes(content[:4], "little")
    numbers = np.frombuffer(content, "<i4", offset=after).reshape(7, -1).copy()
    numbers[row, 0] = number
    with pytest.raises(PackedParseError):
        unpack_parse(zlib.compress(content[:after] + numbers.tobytes()), LEXICONS["en"])
