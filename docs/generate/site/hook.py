"""The MkDocs hook: adds the pages outside docs/, and rewrites the links of all pages."""

import logging

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from docs.generate.site.markdown_lists import normalize_lists
from docs.generate.site.site_links import FILES, broken_links, links, rewrite_links, target
from docs.generate.site.site_pages import INCLUDED_PAGES, ROOT, pages, source_of

#: A child of MkDocs' logger: its warnings fail a build with `--strict`.
log = logging.getLogger("mkdocs.hooks")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Let `make docs-serve` watch the pages outside docs/, too."""
    config.watch.extend(str(ROOT / source) for source in INCLUDED_PAGES)
    return config


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the pages outside docs/, and a copy of each file that a page links to."""
    for source, place in INCLUDED_PAGES.items():
        files.append(File.generated(config, place, abs_src_path=str(ROOT / source)))
    for source in sorted(_linked()):
        files.append(File.generated(config, f"{FILES}/{source}", abs_src_path=str(ROOT / source)))
    return files


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001
    """Return the page for the site, and warn of broken links; MkDocs prescribes the argument names."""
    source = source_of(page.file.src_uri)
    for link in broken_links(markdown, source, lambda place: (ROOT / place).exists()):
        log.warning("%s has a link to %s, which is not there", source, link)
    return normalize_lists(rewrite_links(markdown, source, pages(), _is_file))


def _linked() -> set[str]:
    known = pages()
    led = {target(source, link)[0] for source in known for link in links((ROOT / source).read_text("utf-8"))}
    return {place for place in led - known.keys() if _is_file(place)}


def _is_file(place: str) -> bool:
    return (ROOT / place).is_file()
