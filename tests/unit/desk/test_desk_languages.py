"""The desk's pages in the reviewer's language, and the catalogues that their texts come from."""

import re
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po

from docs.generate.translations import DESK, catalogue_files, texts
from streams.desk.page_templates import LANGUAGES, accepted_languages, choose_language
from streams.settings import DeskRole
from tests.support.desk import held
from tests.support.served_desk import serving_desk

FILES = catalogue_files()
CATALOGUES = [path for path in FILES if path.suffix == ".po"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_catalogue_has_the_texts_of_the_pages_and_is_compiled(path: Path) -> None:
    assert path.read_bytes() == FILES[path], "write it anew: make generate"


def test_every_language_but_that_of_the_code_has_a_catalogue() -> None:
    assert {path.relative_to(DESK / "locale").parts[0] for path in CATALOGUES} == set(LANGUAGES) - {"en"}


@pytest.mark.parametrize("path", CATALOGUES, ids=str)
def test_every_text_is_translated_with_the_same_placeholders_keys_and_settings(path: Path) -> None:
    with path.open("rb") as file:
        catalogue: Catalog = read_po(file)
    messages = [each for each in catalogue if each.id]
    assert len(messages) > 200
    assert [each.id for each in messages if each.fuzzy or not each.string] == []
    for each in messages:
        assert list(each.check(catalogue)) == []
        ids, strings = (value if isinstance(value, tuple) else (value,) for value in (each.id, each.string))
        for text, translated in zip(ids, strings, strict=True):
            kept = re.compile(r"%\(\w+\)s|%%|</?\w+>|\b\w+\.\w+_?\w+\b|/readyz|Truthgate\w+")
            assert sorted(kept.findall(text)) == sorted(kept.findall(translated)), text


def test_the_catalogues_have_what_reasons_mean() -> None:
    assert "The score reaches the threshold for sending." in texts()
    assert "not found" in texts()


@pytest.mark.parametrize(
    ("header", "language"),
    [
        ("nl-BE,nl;q=0.9,en;q=0.5", "nl"),
        ("en;q=0.5, nl", "nl"),
        ("de, NL;q=0.2", "nl"),
        ("nl;q=0, de", "en"),
        ("nl;q=x", "en"),
        ("", "en"),
    ],
)
def test_the_language_is_the_one_that_the_browser_likes_best(header: str, language: str) -> None:
    assert choose_language(*accepted_languages(header)) == language


async def test_a_reviewer_switches_the_language_and_the_browser_keeps_it(tmp_path: Path) -> None:
    answer = held(1, language="en", reasons=("low_score",), decision="blocked")
    async with (
        serving_desk(tmp_path, answer) as served,
        served.client(DeskRole.LEAD, Accept_Language="nl") as kim,
    ):
        page = (await kim.get("/?answer=v-1")).text
        assert '<html lang="nl">' in page
        assert '<div role="status" id="problem"></div>' in re.sub(r">\s+<", "><", page)
        assert "De score ligt onder de drempel voor blokkeren." in page
        assert '<p class="text card" lang="en">Question 1?</p>' in page
        assert (await kim.get("/?language=en")).text.count('<html lang="en">') == 1
        page = (await kim.get("/?answer=v-1")).text
        assert "The score is below the threshold for blocking." in page
        assert '<html lang="en">' in (await kim.get("/?language=%22%3E")).text  # as it was
        missing = await kim.get("/no-such-page?language=nl")
        assert (missing.status_code, "Deze pagina bestaat niet." in missing.text) == (404, True)
        late = await kim.get("/?notice=late")
        assert "Deze beslissing kon niet meer ongedaan worden gemaakt." in late.text
