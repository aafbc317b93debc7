"""Whether a question means the same without the conversation before it."""

from typing import Final

from scoring.text.prepared_text import PreparedText

#: "How much is that?" has four.
_FEWEST_WORDS: Final = 4


def is_standalone(question: PreparedText) -> bool:
    """Return whether nothing in a question's words refers to what was said before.

    It has a verb and at least four words, does not begin with "and", and none of its words, greetings and
    thanks included, is one of the lexicon's ``references``, or an article that stands for a thing ("het" in
    "hoe wijzig ik het"). Too strict on purpose: "a key that may read" has a reference too. What refers in
    other ways is not found, as "the process" in "How long does the process take?".

    >>> from scoring.lexicon import load_shipped
    >>> english = load_shipped()["en"]
    >>> questions = "How do I delete a draft invoice?", "How do I delete it then?", "And for drafts?"
    >>> [is_standalone(PreparedText.of(question, english)) for question in questions]
    [True, False, False]
    """
    words, parse = question.lexicon.sending, question.whole_parse.get()
    if words is None or len(question.words) < _FEWEST_WORDS or parse.pos[0] == "CCONJ":
        return False
    refers = any(
        text in words.references or (text in words.articles and pos == "PRON")
        for text, pos in zip(parse.text, parse.pos, strict=True)
    )
    return not refers and not {"VERB", "AUX"}.isdisjoint(parse.pos)
