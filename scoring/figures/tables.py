"""Tables and lists of a document: the names of their rows and columns, their headings and their cells."""

import re
from dataclasses import dataclass
from itertools import pairwise

from scoring.figures.data_blocks import DataBlock, Row, TextSpan, find_blocks, item_lists
from scoring.figures.quantities import UNIT_SIGNS, Quantity, find_quantities
from scoring.lexicon import FigureWords, Lexicon
from scoring.text.prepared_text import PreparedText, folded_words

_HEADING = "#"
_LONGEST_HEADING = 300
# A heading of more words is about more than what is listed below it.
_MOST_WORDS = 2
# Characters around cells without meaning.
_BLANK_SIGNS = '|*_`~"- \t\r\n'
# Signs that say yes and no in a cell.
YES_SIGNS, NO_SIGNS = frozenset("✓✔✅☑●x"), frozenset("✗✘❌☐○-–—")


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """A table, or a list of items or of keys with values, with named rows and columns.

    - ``rows``: the name of each row, with its place; ``row_spans``: the place of all of it.
    - ``columns``: what the columns are called, without that of the names; "" for the values of keys, and none
      where a list has items alone. ``cells``: those of each row after its name.
    - ``row_stems``, ``column_stems``: the stems by which each is named.
    - ``heading_words``: words and stems of the last two headings above it, or of the title, of the line right
      above, and of the header of the names.
    - ``lead_stems``: stems of the line right above, where it leads in what follows ("You can pay with:").
    - ``row_nouns``: stems of what the rows are called, from the header of their names or from what is
      above ("Plans", "These roles are available:"); ``possible_row_nouns``: of what they may be called.
    - ``is_complete``: nothing says that these are only examples, and it is at no edge of its text, where
      a passage may have been cut.
    """

    rows: tuple[TextSpan, ...]
    columns: tuple[str, ...]
    cells: tuple[Row, ...]
    row_spans: tuple[tuple[int, int], ...]
    row_stems: tuple[frozenset[str], ...]
    column_stems: tuple[frozenset[str], ...]
    heading_words: frozenset[str]
    lead_stems: frozenset[str]
    row_nouns: frozenset[str]
    possible_row_nouns: frozenset[str]
    is_complete: bool

    @classmethod
    def of(cls, block: DataBlock, text: PreparedText) -> "Table":
        """Return the table that a block of a text is."""
        lexicon, original = text.lexicon, text.original
        before = original[: original.rfind("\n", 0, block.start) + 1].splitlines()
        above = [line[-_LONGEST_HEADING:] for line in before if line.strip()]
        titles = [line for line in above if line.startswith(_HEADING)][-2:] or above[:1]
        title = titles[-1] if titles else ""
        lead = "" if not above or above[-1].startswith((_HEADING, "|")) else above[-1].strip()
        corner = block.header[0].text if block.header else ""
        heading = "\n".join((*titles, *above[-1:], corner))
        by_heading = _row_nouns(title, "" if lead == title.strip() else lead, lexicon)
        row_nouns = frozenset(figure_stems(corner, lexicon)) if block.header else by_heading
        columns = [cell.text for cell in block.header or block.rows[0]][1:]
        columns = columns if block.header else [""] * len(columns)
        is_sample = lexicon.figure_words.examples.occurs(tuple(folded_words(heading)))
        after = original[block.rows[-1][-1].end :].strip(_BLANK_SIGNS)
        # Without names of its columns it may begin right below a title.
        is_at_start = block.header is None and "\n" not in original[: block.start].strip(_BLANK_SIGNS)
        return cls(
            rows=tuple(row[0] for row in block.rows),
            columns=tuple(columns),
            cells=tuple(row[1:] for row in block.rows),
            row_spans=tuple((row[0].start, row[-1].end) for row in block.rows),
            row_stems=tuple(_label_stems(row[0].text, lexicon) for row in block.rows),
            column_stems=tuple(_label_stems(column, lexicon) for column in columns),
            heading_words=frozenset((*folded_words(heading), *figure_stems(heading, lexicon))),
            lead_stems=frozenset(figure_stems(lead, lexicon) if lead.endswith(":") else ()),
            row_nouns=row_nouns,
            possible_row_nouns=row_nouns.union(figure_stems(f"{title}\n{lead}", lexicon)),
            is_complete=bool(after) and not (is_sample or is_at_start),
        )

    def amount(self, row: int, column: int, words: FigureWords) -> tuple[Quantity, str | None] | None:
        """Return the amount that a cell is and its unit, which may be that of its column or row."""
        text = self.cells[row][column].text
        amount = next(find_quantities(text, words), None)
        if not (amount and _BEFORE.fullmatch(text, 0, amount.start) and _AFTER.fullmatch(text, amount.end)):
            return None
        unit = amount.unit or unit_in(self.columns[column], words)
        return amount, unit or unit_in(self.rows[row].text, words)


def _row_nouns(heading: str, lead: str, lexicon: Lexicon) -> frozenset[str]:
    """Return the stem of the plural that a short heading has, of the first one of the line that leads in.

    Where there is such a line a heading counts only if that has its word too: "Prices" is not what the items
    below "You can pay with:" are called. A verb may be taken for a plural, which does no harm.
    """
    plurals = _plurals(heading, lexicon) if len(figure_stems(heading, lexicon)) <= _MOST_WORDS else ()
    above = frozenset(plurals) if len(plurals) == 1 else frozenset[str]()
    if not lead:
        return above
    first = _plurals(lead, lexicon)[:1] if lead.endswith(":") else ()
    return above.intersection(figure_stems(lead, lexicon)).union(first)


def _plurals(text: str, lexicon: Lexicon) -> tuple[str, ...]:
    """Return the stems of words that may be plurals: that lack more than the "e" which singulars have too."""
    words = (word for word in folded_words(text) if word not in lexicon.function_words)
    plurals = (word for word in words if lexicon.stem(word) not in (word, word.removesuffix("e")))
    return tuple(figure_stem(word, lexicon) for word in plurals)


def _label_stems(label: str, lexicon: Lexicon) -> frozenset[str]:
    """Return the stems by which a label is named: without what things are, if that leaves any."""
    stems = frozenset(figure_stems(label, lexicon))
    return stems.difference(figure_stem(kind, lexicon) for kind in lexicon.figure_words.kinds) or stems


def tables(text: PreparedText) -> tuple[Table, ...]:
    """Return the tables and lists of keys of a text; nothing in a language whose lexicon has no figures."""
    if text.lexicon.figures is None:
        return ()
    return tuple(Table.of(block, text) for block in find_blocks(text.original))


def listings(text: PreparedText) -> tuple[Table, ...]:
    """Return what a text lists, to be counted: its tables, and its lists with all of their items."""
    if text.lexicon.figures is None:
        return ()
    lists = tuple(Table.of(block, text) for block in item_lists(text.original))
    starts = {row.start for each in lists for row in each.rows}
    return (*lists, *(table for table in text.cached(tables) if table.rows[0].start not in starts))


_SHORTEST_DOUBLED = 4
# "Formaat" and "formaten", "brief" and "brieven".
_LONG_VOWEL = re.compile(r"([aeou])\1(?=[^aeiou]\Z)")
_VOICED = {"v": "f", "z": "s"}


def figure_stems(text: str, lexicon: Lexicon) -> tuple[str, ...]:
    """Return the stems of a text's words that carry content; all of them where none does."""
    found = tuple(folded_words(text))
    content = tuple(word for word in found if word not in lexicon.function_words)
    return tuple(figure_stem(word, lexicon) for word in content or found)


def figure_stem(word: str, lexicon: Lexicon) -> str:
    """Return what a folded word is compared by: the first of its group, or its stem."""
    words = lexicon.figure_words
    bare = lexicon.stem(word)
    # "Pakketten" is "pakket": a plural doubles what it ends in.
    single = bare[:-1] if len(bare) >= _SHORTEST_DOUBLED and bare[-1] == bare[-2] else bare
    if same := words.canonical_word_of.get(word) or words.canonical_word_of.get(single):
        return same
    if word in words.unit_of or word in words.fillers or len(single) < _SHORTEST_DOUBLED:
        return single
    # Singular and plural may differ in more than an ending: "taak" and "taken".
    short = single.removesuffix("e") if len(single) > _SHORTEST_DOUBLED else single
    return _LONG_VOWEL.sub(r"\1", short[:-1] + _VOICED.get(short[-1], short[-1]))


_SIGN = re.compile(r"[€$£%]")
_BEFORE = re.compile(r"[ \t*_+]{0,4}")
# "€ 12,50 per maand", "7 dagen na de vervaldatum": what a cell may say besides its amount.
_AFTER = re.compile(r"(?:[ \u00a0*_/]{1,3}[^\W\d_]{1,20}){0,3}[ \t*_]{0,4}")


def unit_in(text: str, words: FigureWords) -> str | None:
    """Return the unit in a heading: a sign, or the first word that is one and not after "per"."""
    if sign := _SIGN.search(text):
        return UNIT_SIGNS[sign.group()]
    pairs = pairwise(["", *folded_words(text)])
    units = (words.unit_of.get(word) for before, word in pairs if before not in words.per)
    return next(filter(None, units), None)
