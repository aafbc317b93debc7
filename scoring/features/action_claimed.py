"""Actions that an answer claims (paper, Table II, "Non-appearing Statements")."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self

from scoring.claims.claim_extraction import ClaimKind, claims
from scoring.features import Feature
from scoring.text.prepared_text import PreparedExchange, PreparedText, clause_starts, split_words
from scoring.text.spans import marked_spans, span_evidence
from scoring.values.checked_claims import ClaimStatus
from scoring.values.exchange import FeatureValue, MessageType
from scoring.values.rules import Rule, RuleEffect

ACTION_CLAIMED = "action_claimed"

ACTION_CLAIMED_RULE = Rule(
    "action_claimed",
    "The answer says that its writer has done something for the customer, which no document can support.",
    RuleEffect.BLOCK,
    contradiction=0.9,
    status=ClaimStatus.NOT_FOUND,
    mistake="non_appearing_statement",
)


class ActionClaimed(Feature):
    """Whether the answer claims that its writer has done something: "I have reset your password".

    An answer made from documents cannot act, whatever the documents say. Found are sentences in the perfect
    tense with the writer as subject, and an opening such as "Done". Also found, where it was requested or
    affects the customer's possessions, are the simple past, what "we" have done, and a passive that opens the
    answer: "your invoice has been deleted" (:func:`scoring.features.action_claimed.claims_action`). Not found
    are what words alone can do ("I have looked that up", "I have made an overview": ``verbal_actions`` and
    ``verbal_results`` of the lexicon), questions, denials, conditions, names ("choose **I paid**"), and the
    future ("it will be deleted"). The value is in [0, 1]: 0 with such a sentence, otherwise not applicable,
    since its absence makes no answer truer.

    Evidence ``action_claimed``: the sentence.

    Measured on 1,199 rated answers on six products (see ``training/rated``), with which it was developed: it
    is found in 13 of 462 untrue answers, and in none of 566 true ones. With the writer's perfect tense and
    "done" alone it was 12, and on three other sets 5 of 201 untrue answers, and none of 247 true ones.

    >>> answers = "Done! I have deleted the invoice.", "I have not found how to delete it."
    >>> exchanges = [PreparedExchange.of_texts("Delete it.", answer) for answer in answers]
    >>> [ActionClaimed().measure(exchange).value for exchange in exchanges]
    [0.0, None]
    """

    name = ACTION_CLAIMED
    evidence_rules = ((ACTION_CLAIMED, ACTION_CLAIMED_RULE),)

    def measure(self, exchange: PreparedExchange) -> FeatureValue:
        """Return 0 with the sentences that claim an action, or None without any."""
        answer, is_opening, spans = exchange.answer, True, []
        for index, claim in enumerate(answer.cached(claims)):
            if claim.kind in (ClaimKind.QUESTION, ClaimKind.REFUSAL):
                continue
            words = [answer.parse.text[n] for n in claim.tokens]
            is_done = index == 0 and answer.lexicon.claims.done.occurs_at_start(words)
            if is_done or claims_action(exchange, claim.tokens, is_opening):
                spans.append((claim.start, claim.end))
            elif claim.kind is ClaimKind.CLAIM:
                is_opening = False
        evidence = span_evidence(ACTION_CLAIMED, answer, spans)
        return FeatureValue(self.name, 0.0 if evidence else None, evidence)


_AUXILIARY, _PASSIVE, _JOINED = "aux", "aux:pass", "conj"
_SUBJECTS = frozenset({"nsubj", "nsubj:pass"})
# English pipelines label "reset" in "it has been reset" as a predicate.
_PREDICATES = frozenset({"acomp", "attr"})
_NOUNS = frozenset({"NOUN", "PROPN"})
_EXPLAINED_TYPES = frozenset({MessageType.INSTRUCTION, MessageType.REASONING})
# The distance from "your" to the customer's possession.
_MAX_DISTANCE = 3
# Two forms of a word share at least so many letters.
_MIN_STEM = 3


@dataclass(frozen=True, slots=True)
class _Action:
    """A verb's token index, ``form`` and ``lemma``; ``start`` is the offset of its subject."""

    verb: int
    form: str
    lemma: str
    start: int

    @classmethod
    def of(cls, answer: PreparedText, verb: int, subject: int) -> Self:
        parse = answer.parse
        return cls(verb, parse.text[verb], parse.lemma[verb], int(parse.start[subject]))


def claims_action(exchange: PreparedExchange, tokens: Sequence[int], is_opening: bool) -> bool:
    """Return whether a sentence of the answer claims that its writer has done something.

    1. The writer has done it, in the perfect tense: "I have cancelled it".
    2. The writer did it, or the writer's side ("we", "our team") did it or has done it, and it was requested
       or affects the customer's possessions: "I deleted it", "we have deleted your invoice".
    3. It has been done, as the opening of the answer, and either was requested, or affects the customer's
       possessions by a verb that no document has: "your invoice has been deleted".

    Not found are: anything in a text that the customer wants to be written, where "we" and "your" are others;
    what words alone can do (``verbal_actions``); names; sentences with one of ``non_actions``; and, for the
    second and third, what a document says word for word.

    Args:
        exchange: the prepared texts.
        tokens: the words of the sentence.
        is_opening: whether no claim about the product precedes it.
    """
    answer, question = exchange.answer, exchange.question
    parse, question_parse, words = answer.parse, question.parse, answer.lexicon.claims
    if any(parse.text[n] in words.non_actions for n in tokens):
        return False
    writing = question.lexicon.claims.writing
    if not writing.isdisjoint(question_parse.text) or not writing.isdisjoint(question_parse.lemma):
        return False
    if _has_perfect_action(answer, tokens) or any(
        _is_claimed(action, exchange, tokens) for action in _writer_actions(answer, tokens)
    ):
        return True
    return (
        is_opening
        and not _asks_for_explanation(question)
        and any(
            _is_claimed(action, exchange, tokens)
            and (_is_requested(action, question) or not _is_in_documents(action.form, exchange))
            for action in _passive_actions(answer, tokens)
        )
    )


def _has_perfect_action(answer: PreparedText, tokens: Sequence[int]) -> bool:
    parse, words = answer.parse, answer.lexicon.claims
    verbs = {verb for verb in _perfect_verbs(answer, tokens) if parse.lemma[verb] not in words.verbal_actions}
    verbs -= {int(parse.head[n]) for n in tokens if parse.lemma[n] in words.verbal_results}
    # Whatever its relation to the verb: small pipelines take "dat heb ik ingesteld" for "that set me".
    return any(
        parse.text[n] in words.writers and int(parse.head[n]) in verbs and not _is_in_name(answer, n)
        for n in tokens
    )


def _perfect_verbs(answer: PreparedText, tokens: Sequence[int]) -> set[int]:
    parse, have = answer.parse, answer.lexicon.claims.have
    return {int(parse.head[n]) for n in tokens if parse.dep[n] == _AUXILIARY and parse.lemma[n] in have}


def _writer_actions(answer: PreparedText, tokens: Sequence[int]) -> Iterator[_Action]:
    """Yield what the writer or the writer's side did or has done, including verbs joined by "and"."""
    parse, words = answer.parse, answer.lexicon.claims
    past = _perfect_verbs(answer, tokens) | {n for n in tokens if _is_simple_past(answer, n, tokens)}
    for n in tokens:
        subject = n if parse.text[n] in words.writers | words.we else None
        if parse.text[n] in words.ours and parse.dep[int(parse.head[n])] in _SUBJECTS:
            subject = int(parse.head[n])
        if subject is None or _is_in_name(answer, n):
            continue
        verb = int(parse.head[subject])
        joined = (other for other in tokens if parse.dep[other] == _JOINED and int(parse.head[other]) == verb)
        yield from (_Action.of(answer, each, n) for each in (verb, *joined) if each in past)


def _is_simple_past(answer: PreparedText, n: int, tokens: Sequence[int]) -> bool:
    parse, words = answer.parse, answer.lexicon.claims
    if parse.pos[n] != "VERB" or parse.text[n] == parse.lemma[n] or not words.past.occurs((parse.text[n],)):
        return False
    return not _auxiliaries(answer, n, tokens)


def _auxiliaries(text: PreparedText, n: int, tokens: Sequence[int]) -> list[int]:
    """Return the auxiliaries of a verb."""
    parse = text.parse
    return [k for k in tokens if int(parse.head[k]) == n and parse.dep[k].startswith(_AUXILIARY)]


def _is_passive_auxiliary(text: PreparedText, n: int) -> bool:
    words = text.lexicon.claims
    return text.parse.text[n] in words.passives or text.parse.lemma[n] in words.have


def _passive_actions(answer: PreparedText, tokens: Sequence[int]) -> Iterator[_Action]:
    """Yield what a main clause says has been done, without an agent."""
    parse, words = answer.parse, answer.lexicon.claims
    for n in tokens:
        if parse.text[n] not in words.passives:
            continue
        main = verb = int(parse.head[n]) if parse.dep[n] == _PASSIVE else n
        if main == n:
            participles = (
                k
                for k in tokens
                if parse.dep[k] in _PREDICATES
                and int(parse.head[k]) == n
                and words.past.occurs((parse.text[k],))
            )
            verb = next(participles, n)
        children = [k for k in tokens if int(parse.head[k]) == main]
        subject = next(
            (k for k in children if parse.dep[k] in _SUBJECTS and not _is_in_name(answer, k)), None
        )
        if verb == n or subject is None or int(parse.head[main]) != main:
            continue
        if all(_is_passive_auxiliary(answer, k) for k in _auxiliaries(answer, main, tokens)):
            first = min([subject, *(k for k in tokens if int(parse.head[k]) == subject)])
            yield _Action.of(answer, verb, first)


def _is_claimed(action: _Action, exchange: PreparedExchange, tokens: Sequence[int]) -> bool:
    answer, question = exchange.answer, exchange.question
    if action.lemma in answer.lexicon.claims.verbal_actions or _is_presupposed(action, question):
        return False
    end = int(answer.parse.end[action.verb])
    if _is_in_documents(
        " ".join(word.text for word in split_words(answer.original, action.start, end)), exchange
    ):
        return False
    return _is_requested(action, question) or _affects_customer(action, answer, tokens)


def _affects_customer(action: _Action, answer: PreparedText, tokens: Sequence[int]) -> bool:
    """Return whether an action affects the customer's possessions: "your invoice"."""
    parse, yours = answer.parse, answer.lexicon.claims.yours
    # The verb, or the word that the verb is a predicate of.
    heads = {action.verb}
    if parse.dep[action.verb] in _PREDICATES | {_JOINED}:
        heads.add(int(parse.head[action.verb]))
    # One noun may precede another: "your user account has been deleted".
    return any(
        k in tokens and parse.pos[k] in _NOUNS and int(parse.head[k]) in heads
        for n in tokens
        if parse.text[n] in yours
        for k in range(n + 1, n + 1 + _MAX_DISTANCE)
    )


def _is_requested(action: _Action, question: PreparedText) -> bool:
    """Return whether the question has the verb, as in "please delete it"."""
    parse = question.parse
    return action.lemma in parse.lemma or any(
        len(word) >= _MIN_STEM and action.form.startswith(word) for word in parse.text
    )


def _is_presupposed(action: _Action, question: PreparedText) -> bool:
    """Return whether the question has it as done: "why was it deleted?", but not "can it be deleted?"."""
    parse = question.parse
    for n in range(len(parse)):
        if parse.text[n] != action.form or parse.lemma[n] == parse.text[n] == action.lemma:
            continue
        auxiliaries = _auxiliaries(question, n, range(len(parse)))
        if not auxiliaries or any(_is_passive_auxiliary(question, k) for k in auxiliaries):
            return True
    return False


def _asks_for_explanation(question: PreparedText) -> bool:
    """Return whether the question asks how or why; the answer may then describe what has been done."""
    starts = clause_starts(question)
    return any(
        any(patterns.hits(question.word_texts, starts))
        for patterns in question.lexicon.message_types
        if patterns.type in _EXPLAINED_TYPES and not patterns.in_statements
    )


def _is_in_documents(words: str, exchange: PreparedExchange) -> bool:
    return any(f" {words} " in document.text.cached(_joined) for document in exchange.context)


def _joined(text: PreparedText) -> str:
    return f" {' '.join(text.word_texts)} "


def _is_in_name(answer: PreparedText, token: int) -> bool:
    """Return whether a word is part of a marked name: choose "I have paid"."""
    start = answer.parse.start[token]
    return any(mark.start <= start < mark.end for mark in answer.cached(marked_spans))
