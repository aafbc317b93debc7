"""Links of pages lead to what is in the repository, and are moved to where that is on the site."""

import posixpath

import pytest
from pymdownx.slugs import slugify

from docs.generate.site.markdown_lists import normalize_lists
from docs.generate.site.site_links import FILES, broken_links, links, rewrite_links, target
from docs.generate.site.site_pages import ROOT, pages, source_of
from tests.support.site import text_of

_PAGES = {"README.md": "index.md", "docs/one.md": "one.md", "room/README.md": "room.md"}


def _moved(text: str, source: str = "docs/one.md") -> str:
    return rewrite_links(text, source, _PAGES, lambda place: place.startswith("schemas/"))


def _anchors(page: str) -> set[str]:
    """Give the anchors of headings as GitHub and the site make them."""
    lines = (line for line in text_of(page).splitlines() if line.startswith("#"))
    return {slugify(case="lower")(line.lstrip("#").strip().replace("`", ""), "-") for line in lines}


@pytest.mark.parametrize("page", pages())
def test_every_link_of_a_page_leads_to_something_in_the_repository(page):
    assert list(broken_links(text_of(page), page, lambda place: (ROOT / place).exists())) == []
    for link in links(text_of(page)):
        place, anchor = target(page, link)
        assert not anchor or anchor in _anchors(place), link


def test_a_link_to_nothing_is_astray_and_one_to_a_folder_is_not():
    text = "[page](nope.md) [file](../streams/nope.py#L1) [room](../room) [above](#it) `[code](gone.md)`"
    places = {"room", "docs/one.md"}
    assert list(broken_links(text, "docs/one.md", places.__contains__)) == [
        "nope.md",
        "../streams/nope.py#L1",
    ]


def test_a_link_to_a_page_leads_to_it_on_the_site_too():
    assert _moved("[room](../room/README.md#it)") == "[room](room.md#it)"
    assert _moved("[`one`](docs/one.md)", "README.md") == "[`one`](one.md)"
    assert _moved("[above](#it)") == "[above](#it)"


def test_a_link_to_a_file_leads_to_its_copy_and_one_to_a_folder_nowhere():
    assert _moved("[schema](../schemas/verdict.avsc)") == f"[schema]({FILES}/schemas/verdict.avsc)"
    assert _moved("in [the room](../room) there") == "in the room there"


def test_links_to_elsewhere_and_in_code_stay():
    for text in ("[it](https://example.com/a.md)", "`[a](b.md)`", "```sh\n[a](b.md)\n```"):
        assert _moved(text) == text
        assert list(links(text)) == []


def test_every_page_has_a_place_of_its_own():
    places = list(pages().values())
    assert len(set(places)) == len(places)
    assert source_of("index.md") == "README.md"
    assert all(posixpath.basename(place) == place for place in places)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("Text:\n- a\n- b", "Text:\n\n- a\n- b"),
        (
            "1. a\n\n   ```sh\n   x\n   ```\n\n   more\n2. b",
            "1. a\n\n    ```sh\n    x\n    ```\n\n    more\n\n2. b",
        ),
        ("- a\n  more\n- b", "- a\n  more\n- b"),
        ("- a\n  - b\n    more", "- a\n    - b\n      more"),
        ("between 1 and\n2. So", "between 1 and\n2. So"),
        ("- a\n\nText\n  more", "- a\n\nText\n  more"),
        ("```text\nx\n- a\n```", "```text\nx\n- a\n```"),
    ],
)
def test_a_list_is_read_as_it_was_meant(written, read):
    assert normalize_lists(written) == read
