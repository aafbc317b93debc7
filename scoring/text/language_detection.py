"""Language identification, with "not known" as a result."""

import re
from collections.abc import Iterable
from functools import cache, lru_cache

from py3langid.langid import MODEL_FILE, LanguageIdentifier

from scoring.lexicon import Lexicon
from scoring.text.prepared_text import split_words
from scoring.values.exchange import Exchange

#: The label of an unknown language where a label must be a text (BCP 47).
UNDETERMINED = "und"

# More text costs time and does not change the result.
_MAX_CHARACTERS = 2_000
_MAX_CHARACTERS_OF_EACH = 1_000
_CACHE_SIZE = 4_096
_MIN_PROBABILITY = 0.5
_MIN_CANDIDATE_PROBABILITY = 0.1
# Every second or third word of running text is a function word; a third of that is enough.
_MIN_FUNCTION_WORD_SHARE = 0.2
_MIN_FUNCTION_WORDS = 2
# One word of a neighbouring language decides on a short text; in a longer one it may be a name.
_MAX_SHORT_TEXT_WORDS = 12
_MIN_NEIGHBOUR_WORDS = 2
_CODE = re.compile(r"([a-z]{2})(?:[-_][a-z0-9]+)*", re.IGNORECASE)
# Names of buttons and menus are often English, whatever the language of the text.
_MARKED = re.compile(r"\*\*[^*\n]{1,120}\*\*|[\"“][^\"“”\n]{1,80}[\"”]|`[^`\n]{1,120}`")


def language_code(tag: str | None) -> str | None:
    """Return the two-letter code of a language tag such as ``nl`` or ``en-GB``; None for anything else."""
    match = _CODE.fullmatch(tag.strip()) if tag else None
    return match[1].lower() if match else None


@cache
def load_model() -> LanguageIdentifier:
    """Return py3langid's model, cached."""
    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


class LanguageDetector:
    """Identifies a text's language among all that the model knows, not only those with a lexicon.

    So a German or Afrikaans text is identified as such, not as the nearest supported language. Where the
    model is unsure (few words, English button names in a Dutch sentence) the function words of the supported
    languages decide, and without enough of these the result is None. Languages that the model does not know,
    such as Scots and Low German, are recognised by words that the supported language lacks (``neighbours`` of
    its lexicon), and give None too.

    Measured on single short sentences of support chats: Dutch and English, 20 each, all correct; of 112
    German, Afrikaans, Frisian, Luxembourgish, Danish, Norwegian and Swedish ones none was taken for either.
    Of 28 in Scots and Low German 18 were without ``neighbours``, none with them, but these words were chosen
    with the sentences in view: of 14 written afterwards 2 are.

    >>> from scoring.lexicon import load_shipped
    >>> detector = LanguageDetector(load_shipped().values())
    >>> detector.detect("Hoe kan ik dit wijzigen?"), detector.detect("Hoe kan ek dit verander?")
    ('nl', 'af')
    """

    def __init__(self, lexicons: Iterable[Lexicon]) -> None:
        """Load the model (0.8 s, once a process); ``lexicons`` are those of the supported languages."""
        self._lexicons = {lexicon.language: lexicon for lexicon in lexicons}
        self._model = load_model()
        # Documents recur; an entry has at most _MAX_CHARACTERS.
        self._detect = lru_cache(_CACHE_SIZE)(self._detect_uncached)

    def detect(self, text: str) -> str | None:
        """Return the language code of a text, or None where it is uncertain."""
        return self._detect(text[:_MAX_CHARACTERS])

    def detect_exchange(self, exchange: Exchange) -> str | None:
        """Return the stated language, if it is a valid code, else that of question and answer."""
        # Both, since a question is often too short; each within a limit, so that neither crowds out the
        # other.
        texts = exchange.question[:_MAX_CHARACTERS_OF_EACH], exchange.answer[:_MAX_CHARACTERS_OF_EACH]
        return language_code(exchange.language) or self.detect("\n".join(texts))

    def _detect_uncached(self, text: str) -> str | None:
        running_text = _MARKED.sub(" ", text)
        words = [word.text for word in split_words(running_text)]
        if not words:
            return None
        ranking = self._model.rank(running_text)
        if ranking[0][1] >= _MIN_PROBABILITY:
            language: str | None = str(ranking[0][0])
        else:
            language = self._detect_by_function_words(
                words, {code for code, probability in ranking if probability >= _MIN_CANDIDATE_PROBABILITY}
            )
        if language in self._lexicons:
            hits = sum(word in self._lexicons[language].neighbours for word in words)
            if hits >= (1 if len(words) <= _MAX_SHORT_TEXT_WORDS else _MIN_NEIGHBOUR_WORDS):
                return None
        return language

    def _detect_by_function_words(self, words: list[str], candidates: set[str]) -> str | None:
        hits = {
            code: sum(word in lexicon.function_words for word in words)
            for code, lexicon in self._lexicons.items()
            if code in candidates
        }
        best = max(hits, key=lambda code: hits[code], default=None)
        if best is None or hits[best] < max(_MIN_FUNCTION_WORDS, _MIN_FUNCTION_WORD_SHARE * len(words)):
            return None
        return best
