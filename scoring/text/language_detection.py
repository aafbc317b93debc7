"""Language identification: the language of an exchange, or none where it is uncertain."""

import re
from collections.abc import Iterable
from functools import cache, lru_cache

from py3langid.langid import MODEL_FILE, LanguageIdentifier

from scoring.lexicon import Lexicon
from scoring.text.prepared_text import split_words
from scoring.values.exchange import Exchange

#: A language that is not known, where a label must be a text (BCP 47); elsewhere it is None.
UNDETERMINED = "und"

# Beyond this more text does not change the outcome, it only costs time.
_CHARACTERS = 2_000
_OF_EACH = 1_000
_CACHE_SIZE = 4_096
_MIN_PROBABILITY = 0.5
_MIN_CANDIDATE_PROBABILITY = 0.1
# Running text has a function word in every two or three words; a third of that still counts.
_FUNCTION_WORD_SHARE = 0.2
_FUNCTION_WORDS = 2
# One word of a neighbouring language tells in a short text; in a longer one it may be a name.
_SHORT = 12
_NEIGHBOUR_WORDS = 2
_CODE = re.compile(r"([a-z]{2})(?:[-_][a-z0-9]+)*", re.IGNORECASE)
# Names of buttons and menus are often English in a text that is not.
_MARKED = re.compile(r"\*\*[^*\n]{1,120}\*\*|[\"“][^\"“”\n]{1,80}[\"”]|`[^`\n]{1,120}`")


def language_code(tag: str | None) -> str | None:
    """Return the two-letter code of a language tag such as ``nl`` or ``en-GB``; None if it is not one."""
    match = _CODE.fullmatch(tag.strip()) if tag else None
    return match[1].lower() if match else None


@cache
def load_model() -> LanguageIdentifier:
    """Return py3langid's model, read once."""
    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


class LanguageDetector:
    """Identifies the language of a text among all that the model knows, not only those with a lexicon.

    A German or Afrikaans text is thus found to be German or Afrikaans instead of the nearest
    language that can be judged. Where the model is unsure (few words, English names of buttons in
    a Dutch sentence) the function words of the native languages decide, and where these do not
    either the language is None: not known. Neighbours that the model does not know at all, such as
    Scots and Low German, are told by words that the native language does not have (``neighbours``
    of its lexicon), and give None too.

    Measured on single short sentences of support chats: Dutch and English, 20 each, all right; of
    112 German, Afrikaans, Frisian, Luxembourgish, Danish, Norwegian and Swedish ones none was taken
    for either. Of 28 in Scots and Low German 18 were before there were ``neighbours``, none is now,
    but these words were chosen with the sentences in view: of 14 written afterwards 2 still are.

    >>> from scoring.lexicon import load_shipped
    >>> detector = LanguageDetector(load_shipped().values())
    >>> detector.identify("Hoe kan ik dit wijzigen?"), detector.identify("Hoe kan ek dit verander?")
    ('nl', 'af')
    """

    def __init__(self, lexicons: Iterable[Lexicon]) -> None:
        """Load the model (0.8 s, once); ``lexicons`` are those of the native languages."""
        self._lexicons = tuple(lexicons)
        self._neighbours = {lexicon.language: lexicon.neighbours for lexicon in self._lexicons}
        self._model = load_model()
        # Documents come again and again; one is as long as _CHARACTERS at most.
        self._identify = lru_cache(_CACHE_SIZE)(self._detect_uncached)

    def detect(self, text: str) -> str | None:
        """Return the language code of ``text``, or None where it is not known well enough."""
        return self._identify(text[:_CHARACTERS])

    def detect_exchange(self, exchange: Exchange) -> str | None:
        """Return the language that the sender states, where it is a code, else that of the texts."""
        return language_code(exchange.language) or self.detect(
            # Both, since a question is often too short to tell; neither may push the other out of view.
            f"{exchange.question[:_OF_EACH]}\n{exchange.answer[:_OF_EACH]}"
        )

    def _detect_uncached(self, text: str) -> str | None:
        running = _MARKED.sub(" ", text)
        words = [word.text for word in split_words(running)]
        if not words:
            return None
        found = self._detect_by_model(running, words)
        return None if found in self._neighbours and self._is_neighbour(found, words) else found

    def _detect_by_model(self, running: str, words: list[str]) -> str | None:
        ranking = self._model.rank(running)
        if ranking[0][1] >= _MIN_PROBABILITY:
            return str(ranking[0][0])
        possible = {code for code, probability in ranking if probability >= _MIN_CANDIDATE_PROBABILITY}
        return self._detect_by_function_words(words, possible)

    def _is_neighbour(self, found: str, words: list[str]) -> bool:
        hits = sum(word in self._neighbours[found] for word in words)
        return hits >= (1 if len(words) <= _SHORT else _NEIGHBOUR_WORDS)

    def _detect_by_function_words(self, words: list[str], possible: set[str]) -> str | None:
        hits = {
            lexicon.language: sum(word in lexicon.function_words for word in words)
            for lexicon in self._lexicons
            if lexicon.language in possible
        }
        best = max(hits, key=lambda code: hits[code], default=None)
        if best is None or hits[best] < max(_FUNCTION_WORDS, _FUNCTION_WORD_SHARE * len(words)):
            return None
        return best
