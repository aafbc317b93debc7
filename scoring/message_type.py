"""What kind of question a user asks, by ordered lists of phrases (paper, section V-A)."""

from __future__ import annotations

import re

from scoring.text import PreparedText, clause_starts
from scoring.types import MessageType

# A vendor's error code such as K-1014 or ERR-20, or a hexadecimal one. No language has its own.
_ERROR_CODE = re.compile(r"\b(?:[A-Za-z]{1,5}-\d{3,6}|0x[0-9A-Fa-f]{4,8}|[Ee]rror \d{3,6})\b")


def message_type(question: PreparedText) -> MessageType:
    """Return the type of the first list of the question's lexicon that has a hit.

    Where no list hits, the paper takes a message without a question mark for ``reasoning`` and
    any other for ``unspecified``. Here the lexicon says: Dutch and English make a question
    without any question word a yes-or-no question, and a statement unspecified.
    """
    lexicon, words, starts = question.lexicon, question.word_texts, clause_starts(question)
    for patterns in lexicon.message_types:
        if patterns.phrases.occurs(words, starts):
            return patterns.type
        if patterns.type is MessageType.ERROR and _ERROR_CODE.search(question.compared):
            return MessageType.ERROR
    return lexicon.if_question if "?" in question.compared else lexicon.if_statement
