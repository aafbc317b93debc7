"""The pages of the corpus: a product's help, split alike in both languages, really translated, chosen."""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from itertools import count
from xml.etree.ElementTree import Element

from scoring.text.language_detection import LanguageDetector
from training.rated.markdown import SECTIONS, Writer
from training.rated.products import LANGUAGES, Product

FEWEST_WORDS = 80
MOST_WORDS = 1_500
MOST_PAGES = 60
# A longer section is split where it has sections of its own; a shorter one is read as a whole.
_WHOLE = 450
# A section of fewer words stays with the text of the section around it.
_TOO_SHORT_ALONE = 110
# Beyond these the two texts are not each other's translation.
_LENGTH_RATIO = (0.7, 1.7)
_MOST_UNTRANSLATED = 0.05
_FEWEST_WORDS_OF_A_LINE = 6
_MOST_IN_TABLES = 0.5
_MOST_IN_CODE = 0.35
# Beyond this a page has enough to ask about; more marks a reference.
_ENOUGH_FACTS = 25

_OF_NO_CUSTOMER = re.compile(
    r"credits|development team|licen[cs]e|copyright|glossary|bibliograph|acknowledg|change ?log|authors?\b"
    r"|contribut|translat|history|how to obtain|reporting bugs|command line reference|administrivia"
    r"|about this (?:document|manual)",
    re.IGNORECASE,
)
_FACT = re.compile(r"\*\*[^*]+\*\*|\b\d+(?:[.,]\d+)*\b")
_STEP = re.compile(r"^ *\d+\. ", re.MULTILINE)
_FENCED = re.compile(r"```.*?```", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Page:
    """A page in both languages: ``group`` is its chapter, ``above`` the titles that it stands under."""

    group: str
    titles: Mapping[str, str]
    texts: Mapping[str, str]
    above: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a section stands: in which file and chapter and under which title; empty where there is none."""

    file: str
    group: str = ""
    above: Mapping[str, str] = field(default_factory=dict)


def paired(trees: Mapping[str, Mapping[str, Element]], product: Product) -> Iterator[Page]:
    """Yield the pages that both languages have, in the order of the files; ``trees`` by language and file."""
    writers = {language: Writer(_titles(files), product.bold_terms) for language, files in trees.items()}
    left_out = re.compile(product.left_out, re.IGNORECASE)
    for name in trees["en"]:
        if name in trees["nl"] and not left_out.search(name):
            pair = {language: trees[language][name] for language in LANGUAGES}
            yield from _split(pair, writers, _Place(name), left_out)


def _titles(files: Mapping[str, Element]) -> dict[str, str]:
    return {
        key: Writer().title(element)
        for name, root in files.items()
        for element in root.iter()
        if element.tag in SECTIONS and (key := element.get("id") or (name if element is root else ""))
    }


def _split(
    pair: Mapping[str, Element], writers: Mapping[str, Writer], place: _Place, left_out: re.Pattern[str]
) -> Iterator[Page]:
    whole = _page(pair, writers, place)
    title = whole.titles["en"]
    if _OF_NO_CUSTOMER.search(title) or left_out.search(title):
        return
    inner = {language: _sections(element) for language, element in pair.items()}
    alike = len(inner["nl"]) == len(inner["en"])
    if title and (word_count(whole.texts["en"]) <= _WHOLE or not alike or not inner["en"]):
        yield whole
        return
    if not alike:
        return
    lengths = [word_count(writers["en"].page(section)) for section in inner["en"]]
    apart = [index for index, length in enumerate(lengths) if length >= _TOO_SHORT_ALONE]
    if title:
        own = {
            language: _without(element, [inner[language][index] for index in apart])
            for language, element in pair.items()
        }
        yield _page(own, writers, place)
    for index in apart:
        parts = {language: sections[index] for language, sections in inner.items()}
        group = place.group or parts["en"].get("id") or f"{place.file}/{index}"
        yield from _split(parts, writers, _Place(place.file, group, whole.titles), left_out)


def _page(pair: Mapping[str, Element], writers: Mapping[str, Writer], place: _Place) -> Page:
    titles = {language: writers[language].title(element) for language, element in pair.items()}
    texts = {language: writers[language].page(element) for language, element in pair.items()}
    return Page(place.group or _file_group(place.file), titles, texts, place.above)


def _file_group(name: str) -> str:
    return "-".join(name.split("-")[:2])


def _sections(element: Element) -> list[Element]:
    """Return the sections directly in an element, or in what only wraps them."""
    found: list[Element] = []
    for child in element:
        if child.tag in SECTIONS:
            found.append(child)
        elif child.tag == "div":
            found += _sections(child)
    return found


def _without(element: Element, dropped: Sequence[Element]) -> Element:
    made = Element(element.tag, element.attrib)
    made.text = element.text
    for child in element:
        if not any(child is each for each in dropped):
            kept = _without(child, dropped) if child.tag == "div" else copy(child)
            kept.tail = child.tail
            made.append(kept)
    return made


def word_count(markdown: str) -> int:
    """Return the number of words outside of code blocks, marks not counted."""
    return len(re.findall(r"[^\W_]+(?:[-'’][^\W_]+)*", _FENCED.sub(" ", markdown)))


def usable(pages: Iterable[Page], detector: LanguageDetector) -> list[Page]:
    """Return the pages that are long and short enough, of interest, and really translated; each text once."""
    kept: dict[str, Page] = {}
    for page in pages:
        if _is_of_interest(page) and _is_translated(page, detector):
            kept.setdefault(page.texts["en"], page)
    return list(kept.values())


def _is_of_interest(page: Page) -> bool:
    if not all(page.titles.values()):
        return False
    lengths = [word_count(text) for text in page.texts.values()]
    if not all(FEWEST_WORDS <= length <= MOST_WORDS for length in lengths):
        return False
    text = page.texts["en"]
    tables = sum(len(line) for line in text.splitlines() if line.lstrip().startswith("|"))
    code = sum(map(len, _FENCED.findall(text)))
    return tables <= _MOST_IN_TABLES * len(text) and code <= _MOST_IN_CODE * len(text)


def _is_translated(page: Page, detector: LanguageDetector) -> bool:
    nl, en = page.texts["nl"], page.texts["en"]
    least, most = _LENGTH_RATIO
    if not least <= word_count(nl) / word_count(en) <= most:
        return False
    if detector.detect(_prose(nl)) != "nl" or detector.detect(_prose(en)) != "en":
        return False
    lines = [
        line for line in _FENCED.sub("", nl).splitlines() if len(line.split()) >= _FEWEST_WORDS_OF_A_LINE
    ]
    foreign = sum(len(line.split()) for line in lines if detector.detect(line) == "en")
    return foreign <= _MOST_UNTRANSLATED * len(nl.split())


def _prose(text: str) -> str:
    return _FENCED.sub(" ", text)


def chosen(pages: Sequence[Page], most: int = MOST_PAGES) -> list[Page]:
    """Return at most ``most`` pages in their order: from each chapter in turn the one with most to ask about.

    Components, numbers and, above all, steps are what questions of customers are about.
    """
    groups: dict[str, list[int]] = defaultdict(list)
    for index, page in enumerate(pages):
        groups[page.group].append(index)
    for indexes in groups.values():
        indexes.sort(key=lambda index: (-_facts(pages[index].texts["en"]), index))
    turns = sorted((turn, group[turn]) for group in groups.values() for turn in range(len(group)))
    return [pages[index] for index in sorted(index for _, index in turns[:most])]


def _facts(text: str) -> int:
    return min(len(_FACT.findall(text)) + 3 * len(_STEP.findall(text)), _ENOUGH_FACTS)


def identified(pages: Sequence[Page], product: str) -> dict[str, Page]:
    """Return the pages by ids of their English titles; the second of a name ends in ``-2``."""
    made: dict[str, Page] = {}
    for page in pages:
        base = f"{product}-{_slug(page.titles['en'])}"
        numbered = (f"{base}-{number}" for number in count(2))
        name = base if base not in made else next(each for each in numbered if each not in made)
        made[name] = page
    return made


def distinguished(pages: Sequence[Page]) -> list[Page]:
    """Return the pages; before a title that several have ("Options") comes the one above it."""
    common = Counter(page.titles["en"] for page in pages)
    return [
        _under(page) if common[page.titles["en"]] > 1 and any(page.above.values()) else page for page in pages
    ]


def _under(page: Page) -> Page:
    titles = {language: f"{page.above[language]}: {page.titles[language]}" for language in LANGUAGES}
    texts = {
        language: text.replace(f"# {page.titles[language]}", f"# {titles[language]}", 1)
        for language, text in page.texts.items()
    }
    return replace(page, titles=titles, texts=texts)


def _slug(title: str) -> str:
    ascii_only = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode()
    return "-".join(re.findall(r"[a-z0-9]+", ascii_only.lower())[:8])
