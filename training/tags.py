"""From the tags of the Corpus Gesproken Nederlands (CGN), which Frog gives, to universal parts of speech."""

import re

_SIMPLE = {
    "ADJ": "ADJ",
    "BW": "ADV",
    "LET": "PUNCT",
    "LID": "DET",
    "N": "NOUN",
    "TSW": "INTJ",
    "VZ": "ADP",
    "WW": "VERB",
}
_SPECIAL = {"deeleigen": "PROPN", "symb": "SYM"}
_PARTS = re.compile(r"[\w-]+")


def tag_parts(tag: str) -> tuple[str, ...]:
    """Split a CGN tag: ``WW(pv,tgw,ev)`` is ``("WW", "pv", "tgw", "ev")``."""
    return tuple(_PARTS.findall(tag))


def upos(tag: str) -> str:
    """Return the universal part of speech of a CGN tag; auxiliaries are told from the tree, not here.

    >>> upos("VNW(aanw,det,stan,prenom,met-e,rest)"), upos("TW(rang,prenom,stan)")
    ('DET', 'ADJ')
    """
    kind, *rest = tag_parts(tag) or ("",)
    match kind:
        case "N" if "eigen" in rest:
            return "PROPN"
        case "SPEC":
            return _SPECIAL.get(rest[0] if rest else "", "X")
        case "TW":
            return "ADJ" if "rang" in rest else "NUM"
        case "VG":
            return "SCONJ" if "onder" in rest else "CCONJ"
        case "VNW":
            return _pronoun(rest)
        case _:
            return _SIMPLE.get(kind, "X")


def _pronoun(parts: list[str]) -> str:
    if "adv-pron" in parts:
        return "ADV"
    if "bez" in parts:
        return "PRON"
    if "prenom" in parts:
        return "DET"
    return "ADV" if "grad" in parts and "vrij" in parts else "PRON"
