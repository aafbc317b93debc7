"""What the scoring tests share: prepared texts and an exchange in a few words."""

from scoring.features import ContextText, Material
from scoring.lexicon import load_shipped
from scoring.text import PreparedText

LEXICONS = load_shipped()


def prepared(text, language="en"):
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
