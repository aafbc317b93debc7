"""Verbs with their subjects, or who does what (paper, V-B, "Subject Combination")."""

from collections.abc import Iterator

from scoring.text.prepared_text import PreparedExchange, PreparedText
from scoring.text.spans import span_evidence
from scoring.values.exchange import FeatureValue

UNSUPPORTED_SUBJECT = "unsupported_subject"

_SUBJECTS = frozenset({"nsubj", "nsubj:pass"})


class SubjectCombination:
    """Share of the answer's pairs of a verb and its nominal subject that the context has.

    Heuristics: non-appearing statements and off-context. A pair is the lemma of the head and that of
    its ``nsubj`` or ``nsubj:pass``. Pronouns are left out: who "you" or "it" is stands elsewhere. The value
    is the distinct pairs found in any document / the distinct pairs of the answer: in [0, 1]. Not
    applicable where the answer has no such pair.

    Evidence: ``unsupported_subject``, the span from subject to verb of each pair that no document has.

    >>> from scoring.text.prepared_text import PreparedPassage
    >>> from scoring.lexicon import load_shipped
    >>> def text(words): return PreparedText.of(words, load_shipped()["en"])
    >>> document = PreparedPassage("d", text("The manager approves the leave."))
    >>> answer = text("The employee approves the leave.")
    >>> SubjectCombination().measure(PreparedExchange(text(""), answer, (document,))).value
    0.0
    """

    name = "subject_combination"
    uses_translation = True
    evidence_rules = ((UNSUPPORTED_SUBJECT, None),)

    def measure(self, exchange: PreparedExchange) -> FeatureValue:
        """Return the pairs that the context has / the pairs of the answer."""
        own = exchange.answer.cached(subject_spans)
        if not own:
            return FeatureValue(self.name, None)
        known = [document.text.cached(subject_pairs) for document in exchange.context]
        absent = [span for pair, span in own.items() if not any(pair in pairs for pairs in known)]
        evidence = span_evidence(UNSUPPORTED_SUBJECT, exchange.answer, absent)
        return FeatureValue(self.name, 1 - len(absent) / len(own), evidence)


def subject_pairs(text: PreparedText) -> frozenset[tuple[str, str]]:
    """Return the pairs (verb, subject) of a text."""
    return frozenset(pair for pair, _ in _pairs_with_spans(text))


def subject_spans(text: PreparedText) -> dict[tuple[str, str], tuple[int, int]]:
    """Return the pairs of a text, each with the span of its first place, in order."""
    places: dict[tuple[str, str], tuple[int, int]] = {}
    for pair, span in _pairs_with_spans(text):
        places.setdefault(pair, span)
    return places


def _pairs_with_spans(text: PreparedText) -> Iterator[tuple[tuple[str, str], tuple[int, int]]]:
    parse = text.parse
    for subject, relation in enumerate(parse.dep):
        if relation not in _SUBJECTS or parse.pos[subject] == "PRON":
            continue
        verb = int(parse.head[subject])
        first, last = min(subject, verb), max(subject, verb)
        yield (parse.lemma[verb], parse.lemma[subject]), (int(parse.start[first]), int(parse.end[last]))
