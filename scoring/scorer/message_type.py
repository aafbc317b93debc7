"""The message type of a question, by ordered lists of phrases (paper, section V-A)."""

from scoring.lexicon import MessageTypePatterns
from scoring.text.error_codes import error_codes
from scoring.text.prepared_text import PreparedText, clause_starts
from scoring.values.exchange import MessageType


def message_type(question: PreparedText) -> MessageType:
    """Return the type of the first list of the question's lexicon that has a hit.

    The lists have the paper's order (error, general, reasoning, instruction, binary), after one for
    ``action``, for which the paper had none: a text to be written may be about anything. Two things differ,
    as the figures below justify. Lists have exceptions ("what is" is general, "what is the cause" is not).
    And the paper takes every message without a question mark that none of its first lists matches for
    ``reasoning``; here instruction and binary come first ("how do I do this" without its mark), then two
    lists for statements, complaints (``error``) and wishes (``instruction``), and the lexicon decides on the
    rest: a question is binary, a statement unspecified.

    Measured (share of messages with the right type; F1 of "is binary or instruction"), the paper's lists to
    the letter against these: 80 development questions, on which the lists were written, Dutch .79; .87
    against 1.00; 1.00, English .81; .90 against 1.00; 1.00. 100 questions on another product, Dutch .60; .90
    against .66; .90, English .55; .88 against .67; .92.

    >>> from scoring.lexicon import load_shipped
    >>> message_type(PreparedText.of("How would I adjust tax rates?", load_shipped()["en"])).value
    'instruction'
    """
    lexicon = question.lexicon
    for patterns in lexicon.message_types:
        if _hits(patterns, question):
            return patterns.type
    return lexicon.if_question if "?" in question.compared_text else lexicon.if_statement


def _hits(patterns: MessageTypePatterns, question: PreparedText) -> bool:
    if patterns.type is MessageType.ERROR and not patterns.in_statements and question.cached(error_codes):
        return True
    starts = clause_starts(question)
    excluded = _question_word_indices(question, starts) if patterns.in_statements else frozenset()
    return any(first not in excluded for first, _ in patterns.hits(question.word_texts, starts))


def _question_word_indices(question: PreparedText, starts: frozenset[int]) -> frozenset[int]:
    """Return the indices of the words in clauses that end with a question mark."""
    indices: set[int] = set()
    clause_start = 0
    for index, word in enumerate(question.words):
        clause_start = index if index in starts else clause_start
        next_start = question.words[index + 1].start if index + 1 < len(question.words) else question.end
        if "?" in question.original[word.end : next_start]:
            indices.update(range(clause_start, index + 1))
    return frozenset(indices)
