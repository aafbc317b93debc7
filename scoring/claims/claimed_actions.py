"""Deeds that a sentence of an answer lays claim to: "I have reset it", "your invoice has been deleted"."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from scoring.text.prepared_text import PreparedExchange, PreparedText, clause_starts, split_words
from scoring.text.spans import marked_spans
from scoring.values.exchange import MessageType

_AUXILIARY, _PASSIVE, _JOINED = "aux", "aux:pass", "conj"
_SUBJECTS = frozenset({"nsubj", "nsubj:pass"})
# English pipelines take "reset" in "it has been reset" for a predicate.
_PREDICATES = frozenset({"acomp", "attr"})
_NOUNS = frozenset({"NOUN", "PROPN"})
_EXPLAINED = frozenset({MessageType.INSTRUCTION, MessageType.REASONING})
# Between "your" and what the customer has stand no more words than that.
_FEW_WORDS = 3
# So much of two words is the same where one is a form of the other.
_SHORTEST_STEM = 3


@dataclass(frozen=True, slots=True)
class _Action:
    """A verb by its place, its ``form`` and ``lemma``; ``start`` is where in the text its subject begins."""

    verb: int
    form: str
    lemma: str
    start: int


def claims_action(exchange: PreparedExchange, tokens: Sequence[int], is_opening: bool) -> bool:
    """Say whether a sentence of the answer says that who answers has done something.

    1. The writer has done it, in the perfect tense: "I have cancelled it".
    2. The writer did it, or those for whom it writes ("we", "our team") did it or have done it, and it was
       asked for, or is done to something of the customer's: "I deleted it", "we have deleted your invoice".
    3. It has been done, with which the answer opens, and either was asked for, or is done to something of the
       customer's by a word that no document has: "your invoice has been deleted".

    In a text that the question wants to be written, "we" and "your" are others: nothing is found there. And
    none of these is what can be done by words alone (``deeds_of_words``), what stands in a name, and a
    sentence with one of ``no_deeds``; nor the second and third where a document has them word for word.

    Args:
        exchange: the texts of the exchange.
        tokens: the words of the sentence.
        is_opening: whether nothing of the product was said before it.
    """
    answer = exchange.answer
    parse, words = answer.parse, answer.lexicon.claims
    if any(parse.text[n] in words.no_deeds for n in tokens) or _asks_for_text(exchange.question):
        return False
    if _has_perfect_action(answer, tokens):
        return True
    if any(_is_claimed(deed, exchange, tokens) for deed in _writer_actions(answer, tokens)):
        return True
    return (
        is_opening
        and not _asks_how(exchange.question)
        and any(
            _is_claimed(deed, exchange, tokens)
            and (_is_requested(deed, exchange.question) or not _is_in_documents(deed.form, exchange))
            for deed in _passive_actions(answer, tokens)
        )
    )


def _has_perfect_action(answer: PreparedText, tokens: Sequence[int]) -> bool:
    parse, words = answer.parse, answer.lexicon.claims
    deeds = {verb for verb in _perfect(answer, tokens) if parse.lemma[verb] not in words.deeds_of_words}
    words_made = {int(parse.head[n]) for n in tokens if parse.lemma[n] in words.works_of_words}
    # Not by its relation to the verb: small pipelines take "dat heb ik ingesteld" for "that set me".
    return any(
        parse.text[n] in words.writers
        and int(parse.head[n]) in deeds - words_made
        and not _is_named(answer, n)
        for n in tokens
    )


def _perfect(answer: PreparedText, tokens: Sequence[int]) -> set[int]:
    parse, have = answer.parse, answer.lexicon.claims.have
    return {int(parse.head[n]) for n in tokens if parse.dep[n] == _AUXILIARY and parse.lemma[n] in have}


def _writer_actions(answer: PreparedText, tokens: Sequence[int]) -> Iterator[_Action]:
    """Yield what the writer or those for whom it writes did, or have done, that "and" joins among it."""
    parse, words = answer.parse, answer.lexicon.claims
    past = _perfect(answer, tokens) | {n for n in tokens if _is_past(answer, n, tokens)}
    for n in tokens:
        subject = n if parse.text[n] in words.writers | words.together else None
        if parse.text[n] in words.ours and parse.dep[int(parse.head[n])] in _SUBJECTS:
            subject = int(parse.head[n])
        if subject is None or _is_named(answer, n):
            continue
        verb = int(parse.head[subject])
        joined = (other for other in tokens if parse.dep[other] == _JOINED and int(parse.head[other]) == verb)
        yield from (_action(answer, each, n) for each in (verb, *joined) if each in past)


def _is_past(answer: PreparedText, n: int, tokens: Sequence[int]) -> bool:
    parse, words = answer.parse, answer.lexicon.claims
    if parse.pos[n] != "VERB" or parse.text[n] == parse.lemma[n] or not words.past.occurs((parse.text[n],)):
        return False
    return not _auxiliaries(answer, n, tokens)


def _auxiliaries(text: PreparedText, n: int, tokens: Sequence[int]) -> list[int]:
    """Return the auxiliaries of a verb."""
    parse = text.parse
    return [k for k in tokens if int(parse.head[k]) == n and parse.dep[k].startswith(_AUXILIARY)]


def _is_of_passive(text: PreparedText, n: int) -> bool:
    words = text.lexicon.claims
    return text.parse.text[n] in words.passives or text.parse.lemma[n] in words.have


def _passive_actions(answer: PreparedText, tokens: Sequence[int]) -> Iterator[_Action]:
    """Yield what a main clause says has been done, without a word for who did it."""
    parse, words = answer.parse, answer.lexicon.claims
    for n in tokens:
        if parse.text[n] not in words.passives:
            continue
        main = int(parse.head[n]) if parse.dep[n] == _PASSIVE else n
        verb = main if main != n else next((k for k in tokens if _is_participle(answer, k, of=n)), n)
        below = [k for k in tokens if int(parse.head[k]) == main]
        subject = next((k for k in below if parse.dep[k] in _SUBJECTS and not _is_named(answer, k)), None)
        if verb == n or subject is None or int(parse.head[main]) != main:
            continue
        if all(_is_of_passive(answer, k) for k in _auxiliaries(answer, main, tokens)):
            yield _action(answer, verb, min([subject, *(k for k in tokens if int(parse.head[k]) == subject)]))


def _is_participle(answer: PreparedText, n: int, of: int) -> bool:
    parse = answer.parse
    is_predicate = parse.dep[n] in _PREDICATES and int(parse.head[n]) == of
    return is_predicate and answer.lexicon.claims.past.occurs((parse.text[n],))


def _action(answer: PreparedText, verb: int, first: int) -> _Action:
    parse = answer.parse
    return _Action(verb, parse.text[verb], parse.lemma[verb], int(parse.start[first]))


def _is_claimed(action: _Action, exchange: PreparedExchange, tokens: Sequence[int]) -> bool:
    answer, question = exchange.answer, exchange.question
    if action.lemma in answer.lexicon.claims.deeds_of_words:
        return False
    if _is_quoted(action, exchange) or _is_presupposed(action, question):
        return False
    return _is_requested(action, question) or _affects_customer(action, answer, tokens)


def _affects_customer(action: _Action, answer: PreparedText, tokens: Sequence[int]) -> bool:
    """Say whether a deed is done to what the customer has: "your invoice"."""
    parse, yours = answer.parse, answer.lexicon.claims.yours
    words = set(tokens)
    for n in tokens:
        if parse.text[n] in yours:
            near = [k for k in range(n + 1, n + 1 + _FEW_WORDS) if k in words and parse.pos[k] in _NOUNS]
            # One noun may stand before another: "your user account has been deleted".
            if any(_is_of(int(parse.head[k]), action.verb, answer) for k in near):
                return True
    return False


def _is_of(head: int, verb: int, answer: PreparedText) -> bool:
    """Say whether a word is the verb, or what the verb is the predicate of."""
    return head == verb or (
        answer.parse.dep[verb] in _PREDICATES | {_JOINED} and head == int(answer.parse.head[verb])
    )


def _is_requested(action: _Action, question: PreparedText) -> bool:
    """Say whether the question has the verb, as in "please delete it"."""
    parse = question.parse
    return any(
        parse.lemma[n] == action.lemma or _is_form(action.form, parse.text[n]) for n in range(len(parse))
    )


def _is_presupposed(action: _Action, question: PreparedText) -> bool:
    """Say whether the question has it as done: "why was it deleted?", but not "can it be deleted?"."""
    parse = question.parse
    for n in range(len(parse)):
        if parse.text[n] != action.form or parse.lemma[n] == parse.text[n] == action.lemma:
            continue
        helping = _auxiliaries(question, n, range(len(parse)))
        if not helping or any(_is_of_passive(question, k) for k in helping):
            return True
    return False


def _asks_for_text(question: PreparedText) -> bool:
    parse, writing = question.parse, question.lexicon.claims.writing
    return any(parse.text[n] in writing or parse.lemma[n] in writing for n in range(len(parse)))


def _asks_how(question: PreparedText) -> bool:
    """Say whether the question wants to know how or why, of which what has been done may be a part."""
    starts = clause_starts(question)
    return any(
        any(patterns.hits(question.word_texts, starts))
        for patterns in question.lexicon.message_types
        if patterns.type in _EXPLAINED and not patterns.in_statements
    )


def _is_form(form: str, word: str) -> bool:
    return len(word) >= _SHORTEST_STEM and form.startswith(word)


def _is_quoted(action: _Action, exchange: PreparedExchange) -> bool:
    """Say whether a document says word for word that it has been done."""
    end = int(exchange.answer.parse.end[action.verb])
    said = " ".join(word.text for word in split_words(exchange.answer.original, action.start, end))
    return _is_in_documents(said, exchange)


def _is_in_documents(words: str, exchange: PreparedExchange) -> bool:
    return any(f" {words} " in document.text.cached(_joined) for document in exchange.context)


def _joined(text: PreparedText) -> str:
    return f" {' '.join(text.word_texts)} "


def _is_named(answer: PreparedText, token: int) -> bool:
    """Say whether a word stands in what is marked as a name: choose "I have paid"."""
    start = answer.parse.start[token]
    return any(mark.start <= start < mark.end for mark in answer.cached(marked_spans))
