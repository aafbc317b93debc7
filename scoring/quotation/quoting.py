"""Whether an answer is the published page whose title is the question.

Such an answer is sent without anybody seeing it, so nothing here is tolerant.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from scoring.language import stated_language
from scoring.lexicon import Lexicon, SendingWords
from scoring.quotation.pages import Page, is_visible, plain_page, with_plain_line_ends, without_outer_lines
from scoring.text.prepared import words_of
from scoring.values.types import Exchange, PublishedDocument

#: A longer question is not read, and a longer line is no title.
_MOST_CHARACTERS = 300
# A word, in which an apostrophe is a letter, or one sign.
_TOKEN = re.compile(r"[^\W_]+(?:['’][^\W_]+)*|\S")
_FINAL = re.compile(r"(?<=[^\W_])[?.]\Z")
_LINE = re.compile(rf".{{1,{_MOST_CHARACTERS}}}")
_BEHIND_GREETING = frozenset(",!.")
_FINITE_VERB = "*"
# "Delete an account" may be about a customer's login or about the ledger.
_FEWEST_CONTENT_WORDS = 3
# A shorter paragraph does not tell its language.
_FEWEST_WORDS = 10
_ASCII_WORD = re.compile(r"[a-z0-9]+")
_BEGINNING = 4
# What a line may have besides the words of a title: number signs, articles, an opener.
_MORE_CHARACTERS = 60


def quoted_document(
    exchange: Exchange, lexicon: Lexicon, identify: Callable[[str], str | None]
) -> str | None:
    """Return the id of the published document that the answer quotes whole and the question names.

    None where it is not so:

    1. The document is plain (:func:`scoring.quotation.pages.plain_page`), and the answer is all of it below
       its title, character for character; blank lines around it do not count.
    2. The document is a guide, and none of its steps begins with a small word ("you", "if"). The question,
       without a greeting of one word and a final ? or ., is its title: the same words and signs in the same
       order, but for the case of the first word. Either the title begins with an opener as well ("how do
       I"), or it is the deed behind one ("Delete a draft invoice", "Een concept uit de lijst verwijderen").
    3. The title has three words of content, and none that points ("it", "this", "we").
    4. Neither the document speaks of another text ("as above"), nor has a line or title of another document
       of the exchange, published or not, the words of the title, in whatever order and form of their verb.
    5. The document and the question are in the language of ``lexicon``, as far as can be told.

    Only ``exchange.published`` proves anything: the context is read for other titles alone.
    ``identify`` returns the language of a text, None where that cannot be told.
    """
    words, question = lexicon.sending, exchange.question.strip()
    if words is None or not is_visible(question) or not _LINE.fullmatch(question):
        return None
    for document in exchange.published:
        page = quoted_page(exchange.answer, document)
        if page and _names(question, document.title, words):
            is_sure = (
                _is_guide(page, lexicon)
                and _says_enough(document.title, lexicon, words)
                and not _points(document, words)
                and not _has_rival(exchange, document, words)
                and _is_in(lexicon.language, document.language, question, page.body, identify)
            )
            return document.document_id if is_sure else None
    return None


def quoted_page(answer: str, document: PublishedDocument) -> Page | None:
    """Return a plain document that an answer is all of, below its title, or None."""
    body = without_outer_lines(answer)
    # Few answers stand in a document, and parsing it costs far more than looking.
    if not body or body not in with_plain_line_ends(document.text):
        return None
    page = plain_page(document.title, document.text)
    return page if page and page.body == body else None


def cues(title: str) -> frozenset[str]:
    """Return beginnings of words in lowercase ASCII; a line with the words of the title has one of them.

    They are those of its last word, which no opener and no article is, and of the longest before that, since
    the last may be a verb that has another form elsewhere.
    """
    *before, last = _ASCII_WORD.findall(title.lower()) or [""]
    return frozenset(word[:_BEGINNING] for word in (last, max(reversed(before), key=len, default=last)))


def may_be_called(document: PublishedDocument, title: str) -> bool:
    """Say whether the title or a line of a document may have the words of another's title."""
    most = len(title) + _MORE_CHARACTERS
    lines = [line.lower() for line in (document.title, *document.text.split("\n")) if len(line) <= most]
    return any(cue in line for cue in cues(title) for line in lines)


def _tokens(text: str) -> list[str]:
    """Return the words and signs of a question or title, the first word in lower case."""
    found = [each.replace("’", "'") for each in _TOKEN.findall(_FINAL.sub("", text.strip()))]
    return [each.lower() if not place or each == "I" else each for place, each in enumerate(found)]


def _names(question: str, title: str, words: SendingWords) -> bool:
    """Say whether a question is a title, by itself or behind an opener."""
    asked, named = _tokens(question), _tokens(title)
    if asked and asked[0] in words.greetings:
        del asked[: 2 if asked[1:2] and asked[1] in _BEHIND_GREETING else 1]
        asked = _tokens(" ".join(asked))
    deeds = list(_behind_opener(asked, words))
    is_named = asked == named or (named in deeds and _is_deed(named, words))
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


def _is_deed(named: Sequence[str], words: SendingWords) -> bool:
    """Say whether a title begins with a verb and an article, or with an article and ends with a verb.

    Without one "Open invoices" may be a thing, and the capital of "Teams verwijderen" that of a name.
    """
    first, second, last = named[0], named[min(1, len(named) - 1)], named[-1]
    return (first in words.deeds and second in words.articles) or (
        first in words.articles and words.deeds.get(last) == last
    )


def _is_guide(page: Page, lexicon: Lexicon) -> bool:
    """Say whether a page has steps that tell what to do: "You get a text message" does not."""
    return bool(page.steps) and lexicon.function_words.isdisjoint(page.steps)


def _says_enough(title: str, lexicon: Lexicon, words: SendingWords) -> bool:
    said = [word.text for word in words_of(title)]
    content = {word for word in said if word not in lexicon.function_words and word not in words.articles}
    return len(content) >= _FEWEST_CONTENT_WORDS and words.pointing.isdisjoint(said)


def _points(document: PublishedDocument, words: SendingWords) -> bool:
    """Say whether a document speaks of another text, so that it does not say all by itself."""
    return next(words.elsewhere.find([word.text for word in words_of(document.text)]), None) is not None


def _has_rival(exchange: Exchange, document: PublishedDocument, words: SendingWords) -> bool:
    """Say whether a line of another document has the words of a title."""
    named = _callings(document.title, words)
    ids = {each.document_id for each in exchange.published}
    others = [(each.title, each.text) for each in exchange.published if each is not document]
    others += [(each.title or "", each.text) for each in exchange.context if each.document_id not in ids]
    lines = (line for title, text in others for line in (title, *text.split("\n")))
    return any(not named.isdisjoint(_callings(line, words)) for line in lines)


def _callings(line: str, words: SendingWords) -> set[tuple[str, ...]]:
    """Return the sorted words of a line, and of what stands behind an opener in it, verbs in one form."""
    if len(line) > _MOST_CHARACTERS:
        return set()
    said = [word.text for word in words_of(line)]
    kept = (
        sorted(words.deeds.get(word, word) for word in each if word not in words.articles)
        for each in (said, *_behind_opener(said, words))
    )
    return {tuple(each) for each in kept if each}


def _is_in(
    language: str, stated: str, question: str, answer: str, identify: Callable[[str], str | None]
) -> bool:
    paragraphs = (each for each in answer.split("\n\n") if len(words_of(each)) >= _FEWEST_WORDS)
    texts = (question, answer, *paragraphs)
    if stated_language(stated) != language or not {*map(identify, texts)} <= {language, None}:
        return False
    return identify(f"{question}\n\n{answer}") == language
