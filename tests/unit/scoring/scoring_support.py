"""What the scoring tests share: prepared texts and an exchange in a few words."""

from dataclasses import dataclass
from functools import lru_cache

from scoring import Policy, PolicyDecision, ScoredAnswer
from scoring.lexicon import load_shipped
from scoring.text.prepared_text import PreparedExchange, PreparedPassage, PreparedText

LEXICONS = load_shipped()


@dataclass(frozen=True)
class Judged:
    """What the scorer measured and the policy decided; both are read as one."""

    assessment: ScoredAnswer
    decided: PolicyDecision

    def __getattr__(self, name):
        return getattr(self.decided if hasattr(self.decided, name) else self.assessment, name)


def judged(scorer, exchange, degraded=(), policy=Policy()):  # noqa: B008 - frozen
    """Assess and decide, as the worker does."""
    assessment = scorer.score(exchange, degraded)
    return Judged(assessment, policy.decide(assessment))


@lru_cache(maxsize=512)
def prepared(text, language="en"):
    """Prepare a text; one that comes again is parsed once, as a scorer does with its documents."""
    return PreparedText.of(text, LEXICONS[language])


def material(answer, context=(), question="How do I do this?", language="en"):
    documents = (context,) if isinstance(context, str) else context
    return PreparedExchange(
        prepared(question, language),
        prepared(answer, language),
        tuple(PreparedPassage(f"d-{n}", prepared(text, language)) for n, text in enumerate(documents)),
    )


def kinds(value):
    return [(evidence.kind, evidence.text) for evidence in value.evidence]
