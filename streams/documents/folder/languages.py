"""The codes of languages: two letters, as ISO 639-1 gives them."""

from __future__ import annotations

from pathlib import Path, PurePath
from typing import Final

from scoring.language import stated_language

_ISO_639_1: Final = """
    aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz
    ee el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik
    io is it iu ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml
    mn mr ms mt my na nb nd ne ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd
    se sg si sk sl sm sn so sq sr ss st su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi
    vo wa wo xh yi yo za zh zu
"""
_CODES: Final = frozenset(_ISO_639_1.split())
#: Names that people write in place of a code: those of languages of support chats, in English and their own.
_NAMES: Final = {
    **dict.fromkeys(("dutch", "nederlands", "flemish", "nld", "dut"), "nl"),
    **dict.fromkeys(("english", "engels", "eng"), "en"),
    **dict.fromkeys(("german", "deutsch", "duits", "deu", "ger"), "de"),
    **dict.fromkeys(("french", "français", "francais", "frans", "fra", "fre"), "fr"),
    **dict.fromkeys(("spanish", "español", "espanol", "spaans", "spa"), "es"),
    **dict.fromkeys(("italian", "italiano", "italiaans", "ita"), "it"),
    **dict.fromkeys(("portuguese", "português", "portugues", "portugees", "por"), "pt"),
    **dict.fromkeys(("polish", "polski", "pools", "pol"), "pl"),
    **dict.fromkeys(("turkish", "türkçe", "turks", "tur"), "tr"),
    **dict.fromkeys(("arabic", "arabisch", "ara"), "ar"),
    **dict.fromkeys(("frisian", "frysk", "fries", "fry"), "fy"),
}
# Codes that are names of departments and short words as well, so that a folder may be called by them.
_WORDS: Final = frozenset({"am", "as", "hr", "id", "io", "is", "it", "my", "no", "or", "os", "so", "to"})


def is_language(tag: str) -> bool:
    """Say whether a tag such as ``nl`` or ``en-GB`` names a language that there is."""
    return stated_language(tag) in _CODES


def code_meant(name: str) -> str | None:
    """Give the code of a language that is named, such as ``nl`` for Dutch; None where that is unknown."""
    return _NAMES.get(name.strip().lower())


def language_of_folder(folder: Path, page: PurePath, language: str) -> str | None:
    """Give the folder above a page whose name is another language than the one that the page is taken for.

    A name that is a word, too, such as ``hr``, counts only beside a folder of the page's own language.

    Args:
        folder: where the page lies below.
        page: its path below that.
        language: the page's.

    Returns:
        the path of that folder below ``folder``, or None.
    """
    for above in reversed(page.parents[:-1]):
        name = above.name
        other = is_language(name) and stated_language(name) != stated_language(language)
        if other and (name.lower() not in _WORDS or (folder / above.parent / language).is_dir()):
            return above.as_posix()
    return None
