"""Characters that nobody sees."""

import unicodedata

import pytest
import regex

from scoring.text.characters import INVISIBLE

EVERYTHING = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]


def test_every_default_ignorable_character_of_unicode_is_taken_out():
    ignorable = regex.findall(r"\p{Default_Ignorable_Code_Point}", "".join(EVERYTHING))
    assert len(ignorable) > 4_000
    assert INVISIBLE.sub("", "".join(ignorable)) == ""


def test_besides_these_only_controls_and_what_is_drawn_as_a_blank_are():
    taken = set(filter(INVISIBLE.search, EVERYTHING))
    others = {sign for sign in taken if not regex.match(r"\p{Default_Ignorable_Code_Point}", sign)}
    controls = {sign for sign in EVERYTHING if unicodedata.category(sign) == "Cc"}
    blank = {*"\u2800\U0001d159\U00016fe4\ufff9\ufffa\ufffb", *map(chr, range(0x13430, 0x13440))}
    assert others == (controls - set("\t\n\r")) | blank


@pytest.mark.parametrize("text", ["", "Save €\u00a05 →\tnow\r\n", "„Opslaan“ é\u2028naïve", "😀 日本語 אב"])
def test_what_is_seen_stays(text):
    assert not INVISIBLE.search(text)
    assert INVISIBLE.sub("", text) == text
