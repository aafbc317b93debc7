"""The documents of the corpus: fetched from Debian, made Markdown, written per product and language.

Usage::

    python -m training.rated.documents --work WORK --out DOCUMENTS
"""

import argparse
import gzip
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from scoring.lexicon import load_shipped
from scoring.text.language_detection import LanguageDetector
from tests.support.apt import unpack
from training.packed import write_lines
from training.rated.pages import Page, chosen, distinguished, identified, paired, usable, word_count
from training.rated.products import DTD_PACKAGES, LANGUAGES, PRODUCTS, Product

_VERSION = re.compile(r"\((\S+)\)")


def main() -> None:
    """Fetch what is not there yet, and write a file of documents per product and language."""
    arguments = _arguments()
    unpacked = arguments.work / "unpacked"
    if not unpacked.exists():
        packages = {package for product in PRODUCTS for package in product.packages}
        unpack(sorted({*packages, *DTD_PACKAGES}), unpacked, needed=False)
    detector = LanguageDetector(load_shipped().values())
    arguments.out.mkdir(parents=True, exist_ok=True)
    print("| product | packages | licence | of usable pages | pages | words nl | words en |")  # noqa: T201
    print("|---|---|---|---|---|---|---|")  # noqa: T201
    for product in PRODUCTS:
        if arguments.product in {None, product.name}:
            found = usable(_pages(product, unpacked), detector)
            pages = identified(chosen(found), product.name)
            for language in LANGUAGES:
                _write(pages, language, arguments.out / f"{product.name}.{language}.jsonl.gz")
            print(_row(product, unpacked, len(found), list(pages.values())), flush=True)  # noqa: T201


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--work", type=Path, required=True, help="where the packages are unpacked, once")
    parser.add_argument("--out", type=Path, required=True, help="where the documents are written")
    parser.add_argument("--product", help="one product only")
    return parser.parse_args()


def _pages(product: Product, unpacked: Path) -> Iterable[Page]:
    trees = {language: product.roots(unpacked, language) for language in LANGUAGES}
    return distinguished(list(paired(trees, product)))


def _write(pages: Mapping[str, Page], language: str, path: Path) -> None:
    lines = [
        {
            "document_id": document_id,
            "language": language,
            "title": page.titles[language],
            "text": page.texts[language],
        }
        for document_id, page in pages.items()
    ]
    write_lines(path, lines)


def _row(product: Product, unpacked: Path, found: int, pages: list[Page]) -> str:
    packages = ", ".join(f"{package} {_version(unpacked, package)}" for package in product.packages)
    words = [str(sum(word_count(page.texts[language]) for page in pages)) for language in LANGUAGES]
    name = f"{product.name} (unopened)" if product.unopened else product.name
    return f"| {' | '.join([name, packages, product.licence, str(found), str(len(pages)), *words])} |"


def _version(unpacked: Path, package: str) -> str:
    """Return the version that a package's own changelog begins with."""
    folder = unpacked / "usr/share/doc" / package
    for name in ("changelog.Debian.gz", "changelog.gz"):
        if (folder / name).exists():
            with gzip.open(folder / name, "rt", encoding="utf-8", errors="replace") as lines:
                match = _VERSION.search(lines.readline())
            return match[1] if match else "?"
    return "?"


if __name__ == "__main__":
    main()
