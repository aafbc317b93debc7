"""Whether an answer is the section of a published page that the question names by its heading.

Such an answer is sent without anybody seeing it, so nothing here is tolerant.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from scoring.language import stated_language
from scoring.lexicon import Lexicon, SendingWords
from scoring.quotation.pages import (
    Section,
    is_visible,
    plain_sections,
    with_plain_line_ends,
    without_outer_lines,
)
from scoring.text.prepared import words_of
from scoring.values.types import Exchange, PublishedDocument

#: A longer question is not read, and a longer line is no heading.
_MOST_CHARACTERS = 300
# A word, in which an apostrophe is a letter, or one sign.
_TOKEN = re.compile(r"[^\W_]+(?:['’][^\W_]+)*|\S")
_FINAL = re.compile(r"\s{0,20}[?.]\Z")
_LINE = re.compile(rf".{{1,{_MOST_CHARACTERS}}}")
_BEHIND_GREETING = frozenset(",!.")
_FINITE_VERB = "*"
# A shorter paragraph does not tell its language.
_FEWEST_WORDS = 10
_ASCII_WORD = re.compile(r"[a-z0-9]+")
_BEGINNING = 4
# What a line may have besides the words of a heading: number signs, articles, an opener.
_MORE_CHARACTERS = 60


def quoted_document(
    exchange: Exchange, lexicon: Lexicon, identify: Callable[[str], str | None]
) -> str | None:
    """Return the id of the published document of which the answer is the section that the question names.

    None where it is not so:

    1. The answer is the whole section, character for character; blank lines around it do not count.
    2. The question, without a greeting of one word and a final ? or ., is the heading behind an opener
       ("how do I"), or is the heading, with an opener of its own or where both end in a question mark: the
       same words and signs in the same order, but for case and articles. Where the opener moved the verb
       ("hoe verwijder ik"), that is moved back.
    3. The title of the page is neutral, or stands in the heading.
    4. The section is one of :func:`scoring.quotation.pages.plain_sections`. No other line of the page, and
       no line or title of another document of the exchange, published or not, has the words of its heading,
       and the rest of the page does not speak of its other parts ("all of the above").
    5. The page, the question and the section are in the language of ``lexicon``, as far as can be told.

    Only ``exchange.published`` proves anything: the context is read for other headings alone.
    ``identify`` returns the language of a text, None where that cannot be told.
    """
    answer, words = without_outer_lines(exchange.answer), lexicon.sending
    question = exchange.question.strip()
    if words is None or not answer or not is_visible(question) or not _LINE.fullmatch(question):
        return None
    for document in exchange.published:
        for section in plain_sections(document.title, document.text):
            if section.body == answer and _names(question, section.heading, lexicon, words):
                is_sure = (
                    _is_about(document.title, section.heading, lexicon, words)
                    and not _is_spoken_of(document, section, words)
                    and not _has_rival(exchange, document, section, words)
                    and _is_in(lexicon.language, document.language, question, answer, identify)
                )
                return document.document_id if is_sure else None
    return None


def heading_above(document: PublishedDocument, answer: str) -> str | None:
    """Return the line above an answer in a document that holds it once, word for word, or the title.

    None where it does not, or holds it more than once.
    """
    text, body = with_plain_line_ends(document.text), without_outer_lines(answer)
    if not body or text.count(body) != 1:
        return None
    above = [line for line in text[: text.index(body)].split("\n") if line.strip()]
    return above[-1] if above else document.title


def cues(heading: str) -> frozenset[str]:
    """Return beginnings of words in lowercase ASCII; a line with the words of the heading has one of them.

    They are those of its last word, which no opener and no article is, and of the longest before that, since
    the last may be a verb that has another form elsewhere.
    """
    *before, last = _ASCII_WORD.findall(heading.lower()) or [""]
    return frozenset(word[:_BEGINNING] for word in (last, max(reversed(before), key=len, default=last)))


def may_be_called(document: PublishedDocument, heading: str) -> bool:
    """Say whether the title or a line of a document may have the words of a heading."""
    most = len(heading) + _MORE_CHARACTERS
    lines = [line.lower() for line in (document.title, *document.text.split("\n")) if len(line) <= most]
    return any(cue in line for cue in cues(heading) for line in lines)


def _tokens(text: str, lexicon: Lexicon) -> list[str]:
    """Return the words and signs of a question or heading, folded but for names such as "Plan A" and "IT"."""
    found = []
    for place, token in enumerate(_TOKEN.findall(_FINAL.sub("", text.strip(), count=1))):
        folded = token.lower().replace("’", "'")
        is_name = token.isupper() and folded in lexicon.function_words and not text.isupper()
        found.append(token if is_name and (place or len(token) > 1) and folded != "i" else folded)
    return found


def _names(question: str, heading: str, lexicon: Lexicon, words: SendingWords) -> bool:
    """Say whether a question asks for what stands below a heading."""
    asked = _tokens(question, lexicon)
    if asked and asked[0] in words.greetings:
        del asked[: 2 if asked[1:2] and asked[1] in _BEHIND_GREETING else 1]
    wordings = list(_behind_opener(asked, words))
    if wordings or (question.endswith("?") and heading.endswith("?")):
        wordings.append(asked)
    named = _wording(_tokens(heading, lexicon), words)
    return any(named.fullmatch("".join(f"{token} " for token in wording)) for wording in wordings)


def _behind_opener(tokens: Sequence[str], words: SendingWords) -> Iterator[list[str]]:
    """Yield what stands behind an opener, with the verb that is part of it where headings have it."""
    for opener in words.openers:
        said, rest = tokens[: len(opener)], list(tokens[len(opener) :])
        if rest and all(b in (a, _FINITE_VERB) for a, b in zip(said, opener, strict=True)):
            verb = next((a for a, b in zip(said, opener, strict=True) if b == _FINITE_VERB), None)
            if verb is None:
                yield rest
            elif infinitive := words.infinitives.get(verb):
                yield from ([verb, *rest], [*rest, infinitive])
                if rest[-1] in words.particles:
                    yield [*rest[:-1], rest[-1] + infinitive]


def _wording(heading: Sequence[str], words: SendingWords) -> re.Pattern[str]:
    """Return a pattern of the questions that have the tokens of a heading, a space behind each.

    Articles before another word need not be there in either. One of the question that may be a pronoun as
    well ("het verwijderen" is "delete it") counts, unless the heading has an article there.
    """
    articles, sure = (
        "|".join(map(re.escape, each)) or "(?!)" for each in (words.articles, words.articles - words.pronouns)
    )
    return re.compile(
        "".join(
            f"(?:(?:{articles}) )?"
            if token in words.articles and place < len(heading)
            else f"(?:(?:{sure}) )?{re.escape(token)} "
            for place, token in enumerate(heading, 1)
        )
    )


def _is_about(title: str, heading: str, lexicon: Lexicon, words: SendingWords) -> bool:
    """Say whether a title is neutral, or stands in the heading."""
    inner, outer = (
        " ".join(each for each in _tokens(text, lexicon) if each not in words.articles)
        for text in (title, heading)
    )
    return " ".join(title.lower().split()) in words.neutral_titles or (
        inner != "" and f" {inner} " in f" {outer} "
    )


def _is_spoken_of(document: PublishedDocument, section: Section, words: SendingWords) -> bool:
    """Say whether the rest of a page may say something of a section."""
    before, _, after = with_plain_line_ends(document.text).partition(section.body)
    said = [word.text for word in words_of(f"{before}\n{after}")]
    return next(words.elsewhere.find(said), None) is not None


def _has_rival(
    exchange: Exchange, document: PublishedDocument, section: Section, words: SendingWords
) -> bool:
    """Say whether another line of the documents has the words of a heading."""
    named = _callings(section.heading, words)
    own = [
        line
        for number, line in enumerate(with_plain_line_ends(document.text).split("\n"))
        if number != section.line and line.lstrip("# ").rstrip() != document.title.strip()
    ]
    ids = {each.document_id for each in exchange.published}
    others = [(each.title, each.text) for each in exchange.published if each is not document]
    others += [(each.title or "", each.text) for each in exchange.context if each.document_id not in ids]
    lines = [line for title, text in others for line in (title, *text.split("\n"))]
    return any(not named.isdisjoint(_callings(line, words)) for line in (*own, *lines))


def _callings(line: str, words: SendingWords) -> set[tuple[str, ...]]:
    """Return the words of a line, and of what stands behind an opener in it, without signs and articles."""
    if len(line) > _MOST_CHARACTERS:
        return set()
    said = [word.text for word in words_of(line)]
    wordings = (said, *_behind_opener(said, words))
    kept = (tuple(word for word in each if word not in words.articles) for each in wordings)
    return {each for each in kept if each}


def _is_in(
    language: str, stated: str, question: str, answer: str, identify: Callable[[str], str | None]
) -> bool:
    paragraphs = (each for each in answer.split("\n\n") if len(words_of(each)) >= _FEWEST_WORDS)
    texts = (question, answer, *paragraphs)
    return stated_language(stated) == language and {*map(identify, texts)} <= {language, None}
