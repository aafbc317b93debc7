"""The frequency of words in a language at large (wordfreq's lists)."""

from __future__ import annotations

from collections.abc import Collection, Mapping

# The step of wordfreq's scale: a list's n-th entry holds the words of frequency 10 ** (-n / 100).
_STEPS = 100


class GeneralLanguage:
    """The frequencies of words in general use.

    A list has some 300,000 words, takes 0.1 s to read and 40 MB while it is. So only the words that
    were asked for are kept, and it is read again only for words that are new.
    """

    def __init__(self) -> None:
        self._known: dict[str, dict[str, float]] = {}

    def knows(self, language: str) -> bool:
        """Say whether there is a list of the language."""
        return language in _lists()  # asked for another, wordfreq takes a related one

    def frequencies(self, language: str, words: Collection[str]) -> Mapping[str, float] | None:
        """Return the frequency of each of ``words``: its share of all words of running text.

        A word that the list does not have is given 0. None for a language that has no list.
        """
        if not self.knows(language):
            return None
        known = self._known.setdefault(language, {})
        if missing := set(words) - known.keys():
            known.update(_looked_up(language, missing))
        return {word: known[word] for word in words}


def _lists() -> Mapping[str, str]:
    from wordfreq import available_languages  # noqa: PLC0415 - half a second to import, for whoever builds terms

    lists: Mapping[str, str] = available_languages()
    return lists


def _looked_up(language: str, words: set[str]) -> dict[str, float]:
    from wordfreq import read_cBpack  # noqa: PLC0415 - see _lists

    found = dict.fromkeys(words, 0.0)
    # Not by get_frequency_list, which never lets go of a list again.
    for step, group in enumerate(read_cBpack(_lists()[language])):
        # A word may stand in more than one group; the first is the most frequent.
        found |= {word: 10 ** (-step / _STEPS) for word in words.intersection(group) if not found[word]}
    return found
