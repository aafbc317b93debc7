"""Whether an answer is the published document whose title is the question.

Such an answer is sent without anybody seeing it, so nothing here is tolerant. What a document says is not
read: whether it is the right answer to its title, all by itself, is what its publisher marks.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence

from scoring.lexicon import Lexicon, SendingWords
from scoring.text.language_detection import language_code
from scoring.text.prepared_text import split_words
from scoring.values.exchange import Exchange, PublishedDocument

#: A longer document is not sent.
MAX_DOCUMENT_CHARACTERS = 50_000
# An answer may have so many more characters than its document, in blank lines around it.
_MAX_BLANK_CHARACTERS = 200
# A longer question is not read.
_QUESTION = re.compile(r".{1,300}")
# What is to be filled in, or does not show: in code and links, too.
_UNFINISHED = re.compile(
    r"[{}]|<[%!/A-Za-z]|\[[^\[\]\n]*\](?!\()|&#?\w{1,40};|%\w{1,40}%|\$[A-Za-z_(]|\?\?\?|_{3}|\.{4}"
    r"|(?i:lorem ipsum|\bx{3,}|\binvullen\b|\bto be (?:added|filled)|\bfill in here)"
    r"|\b(?:T\.?O\.?D\.?O|TBD|TBC|TBA|FIXME|XXX+|TKTK|N\.?T\.?B|n\.t\.b)\b"
)
_FINAL = re.compile(r"(?<=[^\W_])[?.]\Z")
_BEHIND_GREETING = re.compile(r"[,!.]\Z")
_FINITE_VERB = "*"
# A shorter paragraph does not tell its language.
_FEWEST_WORDS = 10
_ASCII_DIGITS = frozenset("0123456789")


def quoted_document(
    exchange: Exchange, lexicon: Lexicon, detect_language: Callable[[str], str | None]
) -> str | None:
    """Return the id of the published document that the answer quotes whole and the question names.

    None where it is not so:

    1. The document's publisher marked it (``auto_send``), and the mark can work (:func:`sending_problem`).
    2. The answer cites it, and is all of it as the store has it, character for character. Only the kind of
       line ends, blank lines around it, and a first heading that repeats its title may be missing.
    3. The question, without a greeting of one word and a final ? or ., is its title, character for character
       but for the case of the first letter and the kind of apostrophe. Either the title is a question too
       ("How do I ...?"), or it is the action behind an opener ("Delete a draft invoice", "Een concept
       verwijderen").
    4. The document and the question are in the language of ``lexicon``, as far as can be detected, and the
       document is not for another region.

    Only ``exchange.published_documents`` proves anything: what the context says may be the chatbot's own.
    ``detect_language`` returns the language of a text, None if it is unknown.
    """
    words, question = lexicon.sending, exchange.question.strip()
    if words is None or not _QUESTION.fullmatch(question):
        return None
    if not (is_visible(exchange.question) and is_visible(exchange.answer.replace("\r\n", "\n"))):
        return None
    cited = {passage.document_id for passage in exchange.context}
    for document in exchange.published_documents:
        if (
            document.auto_send
            and document.document_id in cited
            and _is_question_for(question, document.title, words)
            and _is_whole(exchange.answer, document)
            and sending_problem(document, lexicon) is None
            and _fits_region(exchange.language, document.language)
            and _is_in_language(lexicon.language, document, question, detect_language)
        ):
            return document.document_id
    return None


def sending_problem(document: PublishedDocument, lexicon: Lexicon | None) -> str | None:
    """Return why a marked document can never be sent, or None if it can.

    ``lexicon`` is that of its language, None where there is none.
    """
    return _text_problem(document) or _title_problem(document.title, lexicon)


def _text_problem(document: PublishedDocument) -> str | None:
    whole = f"{document.title}\n{_strip_blank_lines(document.text)}"
    if not _below_title(document):
        return "it has no text below its title"
    if len(whole) > MAX_DOCUMENT_CHARACTERS:
        return f"it has more than {MAX_DOCUMENT_CHARACTERS:,} characters"
    if hidden := next((each for each in whole if not _is_visible(each)), None):
        return f"it has a character that cannot be seen for what it is, U+{ord(hidden):04X}"
    if found := _UNFINISHED.search(whole):
        return f"{found.group()!r} in it looks as if it is to be filled in, or does not show"
    return None


def _title_problem(title: str, lexicon: Lexicon | None) -> str | None:
    if lexicon is None or lexicon.sending is None:
        return "how questions begin in its language is not known (`[sending]` of a lexicon)"
    named, words = _words(title), lexicon.sending
    if _is_question(named, words) or _is_action_title(named, words):
        return None
    return 'its title is neither a question ("How do I delete a draft?") nor an action ("Delete a draft")'


def is_visible(text: str) -> bool:
    """Return whether every character is unambiguous: Latin letters, ASCII digits, signs, spaces.

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


def _is_whole(answer: str, document: PublishedDocument) -> bool:
    """Return whether an answer is all of a document, with or without its title."""
    if len(answer) - len(document.text) > _MAX_BLANK_CHARACTERS:
        return False
    return _strip_blank_lines(answer) in {_strip_blank_lines(document.text), _below_title(document)}


def _below_title(document: PublishedDocument) -> str:
    """Return the text of a document without a first heading that repeats its title."""
    text = _strip_blank_lines(document.text)
    first, _, rest = text.partition("\n")
    is_title = first.startswith("#") and first.lstrip("#").split() == document.title.split()
    return _strip_blank_lines(rest) if is_title else text


def _strip_blank_lines(text: str) -> str:
    """Return the text without the blank lines before its first and after its last one that is not."""
    lines = text.replace("\r\n", "\n").split("\n")
    filled = [number for number, line in enumerate(lines) if line.strip()]
    return "\n".join(lines[filled[0] : filled[-1] + 1]) if filled else ""


def _words(text: str) -> list[str]:
    """Return what is between single spaces, the first letter in lower case.

    Two spaces have an empty word between them.
    """
    text = text.strip().replace("’", "'")
    return f"{text[:1].lower()}{text[1:]}".split(" ")


def _is_question_for(question: str, title: str, words: SendingWords) -> bool:
    """Return whether a question is a title, or asks for the action that a title names."""
    asked, named = _words(_FINAL.sub("", question)), _words(title)
    if _BEHIND_GREETING.sub("", asked[0]) in words.greetings:
        asked = _words(" ".join(asked[1:]))
    if _is_question(named, words):
        return asked == _words(_FINAL.sub("", title.strip()))
    return _is_action_title(named, words) and named in _behind_opener(asked, words)


def _is_question(named: Sequence[str], words: SendingWords) -> bool:
    return any(_behind_opener(named, words))


def _behind_opener(asked: Sequence[str], words: SendingWords) -> Iterator[list[str]]:
    """Yield what is behind an opener, with the verb that is part of it where titles have it."""
    for opener in words.openers:
        begin, rest = ["i" if each == "I" else each for each in asked[: len(opener)]], [*asked[len(opener) :]]
        if not rest or any(b not in (a, _FINITE_VERB) for a, b in zip(begin, opener, strict=True)):
            continue
        if _FINITE_VERB not in opener:
            yield rest
        elif (verb := begin[opener.index(_FINITE_VERB)]) in words.deeds:
            yield from ([verb, *rest], [*rest, words.deeds[verb]])


def _is_action_title(named: Sequence[str], words: SendingWords) -> bool:
    """Return whether a title begins with a verb and an article, or with an article and ends with a verb.

    Without one "Open invoices" may be a thing, and the capital of "Teams verwijderen" that of a name. A title
    with a mark at its end ("Delete the files report?") could be the question without it.
    """
    first, second, last = named[0], named[min(1, len(named) - 1)], named[-1]
    return not last.endswith(("?", ".")) and (
        (first in words.deeds and second in words.articles)
        or (first in words.articles and words.deeds.get(last) == last)
    )


def _fits_region(customer: str | None, document: str) -> bool:
    """Return whether a document is not for another region than the customer's: "en-US", "en-GB"."""
    one, other = ((each or "").lower().replace("_", "-").partition("-")[2] for each in (customer, document))
    return not (one and other) or one == other


def _is_in_language(
    language: str, document: PublishedDocument, question: str, detect_language: Callable[[str], str | None]
) -> bool:
    body = _below_title(document)
    paragraphs = (each for each in body.split("\n\n") if len(split_words(each)) >= _FEWEST_WORDS)
    texts = (question, body, *paragraphs)
    if language_code(document.language) != language or not {*map(detect_language, texts)} <= {language, None}:
        return False
    return detect_language(f"{question}\n\n{body}") == language
