"""The site is built whole, leads nowhere that is not there, and takes nothing from elsewhere."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urldefrag, urljoin, urlsplit

import pytest
import yaml
from bs4 import BeautifulSoup
from markdown_it import MarkdownIt

from docs.generate.site.site_pages import DOCS, ROOT, pages
from tests.support.ports import NOBODY
from tests.support.site import text_of

_SITE = "http://site/"
#: What has a browser load something by itself.
_LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href"}


CONFIG = DOCS / "generate" / "mkdocs.yml"


def _build(site: Path, config: Path = CONFIG) -> subprocess.CompletedProcess[str]:
    """Build the site as `make docs` does, where nothing else can be reached."""
    nobody = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), f"http://{NOBODY}")
    return subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--config-file", config, "--site-dir", site],
        cwd=ROOT,
        env={**os.environ, **nobody, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    done = _build(folder)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def read(site: Path) -> dict[str, BeautifulSoup]:
    """Give every page of the site, by its address below the site's."""
    found = sorted(site.rglob("*.html"))
    return {
        str(page.relative_to(site)).removesuffix("index.html"): BeautifulSoup(
            page.read_text("utf-8"), "html.parser"
        )
        for page in found
    }


def _nav(entries: list[dict[str, object]]) -> Iterator[str]:
    for entry in entries:
        for place in entry.values():
            if isinstance(place, list):
                yield from _nav(place)
            else:
                yield str(place)


def test_every_page_stands_once_in_the_navigation():
    text = CONFIG.read_text("utf-8")
    nav = yaml.safe_load(text[text.index("\nnav:") :])["nav"]
    assert sorted(_nav(nav)) == sorted(pages().values())


def test_a_link_that_leads_nowhere_ends_the_build(tmp_path):
    (tmp_path / "generate").mkdir()
    config = CONFIG.read_text("utf-8").partition("\nnav:")[0]
    own = tmp_path / "generate" / "mkdocs.yml"
    own.write_text(config.replace("hooks: [site/hook.py]\n", ""), "utf-8")
    (tmp_path / "index.md").write_text("[gone](gone.md) [here](#nowhere)", "utf-8")
    done = _build(tmp_path.with_name("site"), own)
    assert done.returncode == 1
    assert "gone.md" in done.stderr
    assert "#nowhere" in done.stderr


def test_every_link_of_the_site_leads_to_a_page_and_a_place_on_it(site, read):
    anchors = {address: {tag["id"] for tag in page.select("[id]")} for address, page in read.items()}
    astray = []
    for address, page in read.items():
        for tag in page.select("article a[href], nav a[href]"):
            link = str(tag["href"])
            if urlsplit(link).scheme or address == "404.html":
                continue
            there, anchor = urldefrag(urljoin(_SITE + address, link).removeprefix(_SITE))
            there = there if there in read or (site / there).is_file() else f"{there}/"
            known = there in read or (site / there).is_file()
            if not known or (anchor and anchor not in anchors.get(there, set())):
                astray.append((address, link))
    assert astray == []
    assert len(anchors) > len(pages()) / 2


def test_what_makes_the_site_is_not_published(site):
    known = {"assets", "files", "search", *(place.removesuffix(".md") for place in pages().values())}
    folders = {each.name for each in site.iterdir() if each.is_dir()}
    assert folders == known - {"index"}


def test_nothing_is_loaded_from_elsewhere(site, read):
    loaded = [
        (address, str(tag[attribute]))
        for address, page in read.items()
        for name, attribute in _LOADED.items()
        for tag in page.select(f"{name}[{attribute}]")
        if tag.get("rel") not in (["canonical"], ["next"], ["prev"])
    ]
    assert loaded
    assert [one for one in loaded if urlsplit(one[1]).scheme or one[1].startswith("//")] == []
    for sheet in site.rglob("*.css"):
        assert not re.search(r"(?:url\(|@import)[\s\"']*(?:https?:)?//", sheet.read_text("utf-8")), sheet
    # Material's own script would load what draws diagrams from elsewhere, where a page has one.
    assert [address for address, page in read.items() if page.select(".mermaid")] == []


def _letters(soup: BeautifulSoup) -> str:
    """Give the text without white space, which is nowhere the same, and without what is the site's own."""
    for own in soup.select(".headerlink, .md-source-file"):
        own.extract()
    return "".join(soup.get_text().split())


@pytest.mark.parametrize(("source", "place"), pages().items(), ids=list(pages()))
def test_a_page_of_the_site_is_what_commonmark_makes_of_it(source, place, read):
    expected = BeautifulSoup(MarkdownIt("commonmark").enable("table").render(text_of(source)), "html.parser")
    address = "" if place == "index.md" else f"{place.removesuffix('.md')}/"
    (article,) = read[address].select("article")
    names = ("h1", "h2", "h3", "li", "pre", "tr", "code", "strong")
    counts = [{name: len(one.select(name)) for name in names} for one in (article, expected)]
    assert counts[0] == counts[1]
    assert _letters(article) == _letters(expected)
