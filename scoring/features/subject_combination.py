"""Verbs with their subjects (paper, V-B, "Subject Combination")."""

from scoring.features import Feature
from scoring.text.prepared_text import PreparedExchange, PreparedText
from scoring.text.spans import span_evidence
from scoring.values.exchange import FeatureValue

UNSUPPORTED_SUBJECT = "unsupported_subject"

_SUBJECTS = frozenset({"nsubj", "nsubj:pass"})


class SubjectCombination(Feature):
    """Share of the answer's pairs of a verb and its nominal subject that the context has.

    Heuristics: "Non-appearing Statements" and "Off-context". A pair is the lemma of the head and that of its
    ``nsubj`` or ``nsubj:pass``. Pronouns are left out, since their referent is elsewhere. The value is the
    distinct pairs found in any document / the distinct pairs of the answer, in [0, 1]. Not applicable where
    the answer has no pair.

    Evidence: ``unsupported_subject``, the span from subject to verb of each pair that no document has.

    >>> texts = "The employee approves the leave.", "The manager approves the leave."
    >>> SubjectCombination().measure(PreparedExchange.of_texts("", *texts)).value
    0.0
    """

    name = "subject_combination"
    uses_translation = True
    evidence_rules = ((UNSUPPORTED_SUBJECT, None),)

    def measure(self, exchange: PreparedExchange) -> FeatureValue:
        """Return pairs that the context has / pairs of the answer."""
        pairs = exchange.answer.cached(subject_spans)
        if not pairs:
            return FeatureValue(self.name, None)
        known = [document.text.cached(subject_spans) for document in exchange.context]
        missing = [span for pair, span in pairs.items() if not any(pair in other for other in known)]
        evidence = span_evidence(UNSUPPORTED_SUBJECT, exchange.answer, missing)
        return FeatureValue(self.name, 1 - len(missing) / len(pairs), evidence)


def subject_spans(text: PreparedText) -> dict[tuple[str, str], tuple[int, int]]:
    """Return the pairs (verb, subject) of a text, each with its first span, in order."""
    parse = text.parse
    spans: dict[tuple[str, str], tuple[int, int]] = {}
    for subject, relation in enumerate(parse.dep):
        if relation not in _SUBJECTS or parse.pos[subject] == "PRON":
            continue
        verb = int(parse.head[subject])
        span = int(parse.start[min(subject, verb)]), int(parse.end[max(subject, verb)])
        spans.setdefault((parse.lemma[verb], parse.lemma[subject]), span)
    return spans
