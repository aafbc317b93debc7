"""What the scoring tests share: prepared texts and an exchange in a few words."""

from functools import lru_cache

from scoring.features import ContextText, Material
from scoring.lexicon import load_shipped
from scoring.text.prepared import PreparedText

LEXICONS = load_shipped()


@lru_cache(maxsize=512)
def prepared(text, language="en"):
    """Prepare a text; one that comes again is parsed once, as a scorer does with its documents."""
    return PreparedText.of(text, LEXICONS[language])


def material(answer, context=(), question="How do I do this?", language="en"):
    documents = (context,) if isinstance(context, str) else context
    return Material(
        prepared(question, language),
        prepared(answer, language),
        tuple(ContextText(f"d-{n}", prepared(text, language)) for n, text in enumerate(documents)),
    )


def kinds(value):
    return [(evidence.kind, evidence.text) for evidence in value.evidence]
