"""Whether an answer is the published document whose title is the question.

Such an answer is sent without anybody seeing it, so nothing here is tolerant.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from html import unescape

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

from scoring.lexicon import Lexicon, SendingWords
from scoring.text.language_detection import language_code
from scoring.text.prepared_text import split_words
from scoring.values.exchange import Exchange, PublishedDocument

#: A longer page is not read.
MAX_PAGE_CHARACTERS = 50_000
# The parser leaves out what is nested deeper than 20.
_DEEPEST = 10
_REMEMBERED = 64

_LISTS = frozenset({"bullet_list", "ordered_list"})
_FOLLOWS_COLON = _LISTS | {"table", "fence"}
_TYPES = _FOLLOWS_COLON | {
    "paragraph", "list_item", "blockquote", "thead", "tbody", "tr", "th", "td", "inline", "text",
    "code_inline", "em", "strong", "softbreak", "hardbreak",
}  # fmt: skip
# What running text is wrapped to is longer.
_SHORT_LINE = 40
_SENTENCE_END = re.compile(r"[.!?…][\"'”’)*_`]*\Z")
_COLON_END = re.compile(r":[*_]*\Z")
_STRESSED = re.compile(r"[*_].*[*_][.:!?]*")
# What is to be filled in, or hidden, in code too.
_UNFINISHED = re.compile(
    r"\{\{|\}\}|\{%|<%|<!--|\$\{|&#?\w{1,40};|\?\?\?|_{3}|\.{4}|(?i:lorem ipsum)"
    r"|(?i:\bx{3,}|\binvullen\b|\bto be (?:added|filled)|\bfill in here)"
    r"|\b(?:T\.?O\.?D\.?O|TBD|TBC|TBA|FIXME|XXX+|TKTK|N\.?T\.?B|n\.t\.b)\b"
)
# Brackets and braces are placeholders; stars, daggers and "(1)" lead to a note that stands elsewhere.
_MARKS = re.compile(r"[\[\]{}<*†‡§^~]|\([a-z\d]{1,2}\)|%\w{1,40}%|\$[A-Za-z_(]")
_WORD = re.compile(r"[^\W_]+")
_ASCII_DIGITS = frozenset("0123456789")


@dataclass(frozen=True, slots=True)
class QuotablePage:
    """All that stands below the title of a page; ``steps`` are the first words of its numbered steps."""

    body: str
    first_step_words: tuple[str, ...]


def normalize_line_ends(text: str) -> str:
    r"""Return the text with ``\n`` at the end of each line."""
    return text.replace("\r\n", "\n")


def strip_blank_lines(text: str) -> str:
    """Return the text without the blank lines before its first and after its last one that is not."""
    lines = normalize_line_ends(text).split("\n")
    filled = [number for number, line in enumerate(lines) if line.strip()]
    return "\n".join(lines[filled[0] : filled[-1] + 1]) if filled else ""


def is_visible(text: str) -> bool:
    """Say whether every character can be seen for what it is: Latin letters, ASCII digits, signs, spaces.

    Letters of other scripts look like them, and what is invisible or combines changes what is read.
    """
    return all(map(_is_visible, set(text)))


def _is_visible(character: str) -> bool:
    if character in " \n\t":
        return True
    category = unicodedata.category(character)
    if category.startswith("L"):
        return category in {"Lu", "Ll"} and unicodedata.name(character, "").startswith("LATIN ")
    if category == "Nd":
        return character in _ASCII_DIGITS
    # U+2800 is a sign without a dot, and U+1D159 a note without a head.
    return category[0] in "PS" and character not in "\u2800\U0001d159"


@lru_cache(_REMEMBERED)
def quotable_page(title: str, text: str) -> QuotablePage | None:
    """Return a page, in Markdown, that may be quoted; its first line may be a heading that repeats the title.

    None where it is not plain. That is, it has:

    - another heading, or what looks like one: a line in bold or capitals, a short one without a stop, a list
      of one item, a table without rows;
    - links, HTML, rules, reference definitions, indented code, pictures, struck text;
    - footnote marks, placeholders, or characters that cannot be seen (:func:`is_visible`);
    - nothing below its title, or more than ``MOST_CHARACTERS``.
    """
    text, defined = normalize_line_ends(text), dict[str, object]()
    if not title.strip() or len(text) > MAX_PAGE_CHARACTERS or not is_visible(title + text):
        return None
    blocks = SyntaxTreeNode(_parser().parse(text, defined)).children
    lines, first = text.split("\n"), 0
    if blocks and blocks[0].type == "heading" and _is_title(blocks[0], title):
        first, blocks = blocks[0].map[1] if blocks[0].map else 0, blocks[1:]
    body = strip_blank_lines("\n".join(lines[first:]))
    is_plain = all(_is_plain(node) for block in blocks for node in block.walk())
    if not body or not is_plain or defined.get("references") or _UNFINISHED.search(text):
        return None
    items = (item for block in blocks if block.type == "ordered_list" for item in block.children)
    return QuotablePage(body, tuple(map(_first_word, items)))


def _is_title(heading: SyntaxTreeNode, title: str) -> bool:
    return heading.markup.startswith("#") and _text(heading).split() == title.split()


def _is_plain(node: SyntaxTreeNode) -> bool:
    if node.type not in _TYPES or node.level > _DEEPEST or "title" in node.attrs:
        return False
    if node.type in _LISTS and node.level == 0:
        return len(node.children) > 1 and node.attrs.get("start", 1) == 1
    if node.type == "paragraph":
        return _is_running(node)
    return not (node.type == "text" and _MARKS.search(node.content)) and not (
        node.type == "table" and len(node.children) == 1
    )


def _is_running(paragraph: SyntaxTreeNode) -> bool:
    """Say whether a paragraph is made of sentences, of which the last may be before a list what it is of."""
    *lines, last = [line.strip() for line in _text(paragraph).split("\n")]
    if any(map(_STRESSED.fullmatch, (*lines, last))):
        return False
    if paragraph.parent and paragraph.parent.type == "list_item":
        return True
    following = paragraph.next_sibling
    ends = _SENTENCE_END.search(last) or (
        _COLON_END.search(last) and following and following.type in _FOLLOWS_COLON
    )
    if not ends or any(
        line.isupper() and sum(map(str.isalpha, line)) > len("OK!") for line in (*lines, last)
    ):
        return False
    return all(len(line) >= _SHORT_LINE or _SENTENCE_END.search(line) for line in lines)


def _first_word(item: SyntaxTreeNode) -> str:
    """Return the first word of a step in lower case, "" for one that does not begin with a sentence."""
    first = item.children[0] if item.children else None
    found = _WORD.search(_text(first)) if first and first.type == "paragraph" else None
    return found.group().lower() if found else ""


def _text(block: SyntaxTreeNode) -> str:
    return block.children[0].content


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark").enable(["table", "strikethrough"])


#: A longer question is not read, and a longer line is no title.
_MAX_LINE_CHARACTERS = 300
# A word, in which an apostrophe is a letter, or one sign.
_TOKEN = re.compile(r"[^\W_]+(?:['’][^\W_]+)*|\S")
_FINAL = re.compile(r"(?<=[^\W_])[?.]\Z")
_LINE = re.compile(rf".{{1,{_MAX_LINE_CHARACTERS}}}")
_BEHIND_GREETING = frozenset(",!.")
_FINITE_VERB = "*"
# "Delete an account" may be about a customer's login or about the ledger.
_FEWEST_CONTENT_WORDS = 3
# A shorter paragraph does not tell its language.
_FEWEST_WORDS = 10
_ASCII_WORD = re.compile(r"[a-z0-9]+")
# Endings change ("invoice", "invoices"), beginnings seldom do.
_PREFIX_LENGTH = 4
# What a page may have within a word, or in place of a space: tags, marks of bold and code, hyphens.
_WITHIN_WORDS = re.compile(r"<[^>]{0,200}>|[*_`~\\-]")


def quoted_document(
    exchange: Exchange, lexicon: Lexicon, detect_language: Callable[[str], str | None]
) -> str | None:
    """Return the id of the published document that the answer quotes whole and the question names.

    None where it is not so:

    1. The document is plain (:func:`scoring.quotation.quoted_document.quotable_page`), and the answer is all
    of it below
       its title, character for character; blank lines around it do not count.
    2. The document is a guide, and none of its steps begins with a small word ("you", "if"). The question,
       without a greeting of one word and a final ? or ., is its title: the same words and signs in the same
       order, but for the case of the first word. Either the title begins with an opener as well ("how do
       I"), or it is the deed behind one ("Delete a draft invoice", "Een concept uit de lijst verwijderen").
    3. The title has three words of content, and none that points ("it", "this", "we").
    4. Neither the document speaks of another text ("as above"), nor does another document of the exchange,
       published or not, have all words of content of the title but its verb, in whatever form and order: it
       may take back what the guide says.
    5. The document and the question are in the language of ``lexicon``, as far as can be told, and the
       document is not for another region.
    6. The answer cites the document (``is_cited``).

    Only ``exchange.published`` proves anything: the context is read for other titles alone.
    ``identify`` returns the language of a text, None where that cannot be told.
    """
    words, question = lexicon.sending, exchange.question.strip()
    if words is None or not is_visible(question) or not _LINE.fullmatch(question):
        return None
    for document in exchange.published_documents:
        page = quoted_page(exchange.answer, document) if document.is_cited else None
        if page and _is_question_for(question, document.title, words):
            is_sure = (
                _is_guide(page, lexicon)
                and _is_specific_title(document.title, lexicon, words)
                and not _refers_elsewhere(document, words)
                and not _has_rival(exchange, document, lexicon, words)
                and _is_in_language(lexicon.language, document.language, question, page.body, detect_language)
                and _fits_region(exchange.language, document.language)
            )
            return document.document_id if is_sure else None
    return None


def quoted_page(answer: str, document: PublishedDocument) -> QuotablePage | None:
    """Return a plain document that an answer is all of, with or without its title, or None."""
    body = strip_blank_lines(answer)
    # Few answers stand in a document, and parsing it costs far more than looking.
    if not body or body not in normalize_line_ends(document.text):
        return None
    page = quotable_page(document.title, document.text)
    return page if page and body in {page.body, strip_blank_lines(document.text)} else None


def title_cues(title: str) -> frozenset[str]:
    """Return beginnings of words in lowercase ASCII: a document on what a title is on has one of them.

    They are those of its last word and of the longest before that, since one of the two may be the verb.
    """
    *before, last = _ASCII_WORD.findall(title.lower()) or [""]
    return frozenset(word[:_PREFIX_LENGTH] for word in (last, max(reversed(before), key=len, default=last)))


def _tokens(text: str) -> list[str]:
    """Return the words and signs of a question or title, the first word in lower case."""
    found = [each.replace("’", "'") for each in _TOKEN.findall(_FINAL.sub("", text.strip()))]
    return [each.lower() if not place or each == "I" else each for place, each in enumerate(found)]


def _is_question_for(question: str, title: str, words: SendingWords) -> bool:
    """Say whether a question is a title, by itself or behind an opener."""
    asked, named = _tokens(question), _tokens(title)
    if asked and asked[0] in words.greetings:
        del asked[: 2 if asked[1:2] and asked[1] in _BEHIND_GREETING else 1]
        asked = _tokens(" ".join(asked))
    deeds = list(_behind_opener(asked, words))
    is_named = asked == named or (named in deeds and _is_action_title(named, words))
    return bool(deeds) and is_named


def _behind_opener(tokens: Sequence[str], words: SendingWords) -> Iterator[list[str]]:
    """Yield what stands behind an opener, with the verb that is part of it where titles have it."""
    for opener in words.openers:
        said, rest = tokens[: len(opener)], list(tokens[len(opener) :])
        if (
            rest
            and len(said) == len(opener)
            and all(b in (a, _FINITE_VERB) for a, b in zip(said, opener, strict=True))
        ):
            verb = next((a for a, b in zip(said, opener, strict=True) if b == _FINITE_VERB), None)
            if verb is None:
                yield rest
            elif verb in words.deeds:
                yield from ([verb, *rest], [*rest, words.deeds[verb]])


def _is_action_title(named: Sequence[str], words: SendingWords) -> bool:
    """Say whether a title begins with a verb and an article, or with an article and ends with a verb.

    Without one "Open invoices" may be a thing, and the capital of "Teams verwijderen" that of a name.
    """
    first, second, last = named[0], named[min(1, len(named) - 1)], named[-1]
    return (first in words.deeds and second in words.articles) or (
        first in words.articles and words.deeds.get(last) == last
    )


def _is_guide(page: QuotablePage, lexicon: Lexicon) -> bool:
    """Say whether a page has steps that tell what to do: "You get a text message" does not."""
    return (
        bool(page.first_step_words)
        and all(page.first_step_words)
        and lexicon.function_words.isdisjoint(page.first_step_words)
    )


def _is_specific_title(title: str, lexicon: Lexicon, words: SendingWords) -> bool:
    said = [word.text for word in split_words(title)]
    return len(_content(title, lexicon, words)) >= _FEWEST_CONTENT_WORDS and words.pointing.isdisjoint(said)


def _content(title: str, lexicon: Lexicon, words: SendingWords) -> set[str]:
    said = {word.text for word in split_words(title)}
    return {word for word in said if word not in lexicon.function_words and word not in words.articles}


def _refers_elsewhere(document: PublishedDocument, words: SendingWords) -> bool:
    """Say whether a document speaks of another text, so that it does not say all by itself."""
    return next(words.elsewhere.find([word.text for word in split_words(document.text)]), None) is not None


def _has_rival(
    exchange: Exchange, document: PublishedDocument, lexicon: Lexicon, words: SendingWords
) -> bool:
    """Say whether another document has what a title speaks of: all of its words of content but the verb."""
    content = _content(document.title, lexicon, words)
    subject = {word[:_PREFIX_LENGTH] for word in content if word not in words.deeds}
    ids = {each.document_id for each in exchange.published_documents}
    others = [(each.title, each.text) for each in exchange.published_documents if each is not document]
    others += [(each.title or "", each.text) for each in exchange.context if each.document_id not in ids]
    return any(all(word in _searchable_text(*other) for word in subject) for other in others)


def _searchable_text(title: str, text: str) -> str:
    """Return a document in lower case, without what may stand within its words."""
    shown = _WITHIN_WORDS.sub("", unescape(f"{title}\n{text}")).casefold()
    return "".join(character for character in shown if is_visible(character))


def _fits_region(customer: str | None, document: str) -> bool:
    """Say whether a document is not for another region than the customer's: "en-US", "en-GB"."""
    one, other = ((each or "").lower().replace("_", "-").partition("-")[2] for each in (customer, document))
    return not (one and other) or one == other


def _is_in_language(
    language: str, stated: str, question: str, answer: str, detect_language: Callable[[str], str | None]
) -> bool:
    paragraphs = (each for each in answer.split("\n\n") if len(split_words(each)) >= _FEWEST_WORDS)
    texts = (question, answer, *paragraphs)
    if language_code(stated) != language or not {*map(detect_language, texts)} <= {language, None}:
        return False
    return detect_language(f"{question}\n\n{answer}") == language
