"""The lemmatizer: spaCy's rules and tables for Dutch, mended by what the training sentences show."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import cast

import spacy
import spacy_lookups_data  # type: ignore[import-untyped]
from spacy.language import Language
from spacy.pipeline import Lemmatizer
from spacy.tokens import Doc
from spacy.util import load_language_data
from spacy.vocab import Vocab

from training.conversion import AUXILIARIES
from training.tree import Sentence, UdWord

# The parts of speech that the Dutch rules know; all others keep their form.
_KNOWN = frozenset({"ADJ", "ADP", "ADV", "AUX", "DET", "NOUN", "NUM", "PRON", "VERB"})
_INFLECTED = ("ADJ", "NOUN", "VERB")
_TIMES_GOLD = 3
_FEWEST = 3
_LEAST_SHARE = 0.8

Form = tuple[str, str]

_FINAL = {"v": "f", "z": "s"}


# "stroken" is the plural of "strook", "knoppen" of "knop": for words that the tables do not have. Without
# "eren", which in words such as "kinderen" is an ending.
_LONG_VOWELS = [
    [vowel + consonant + "en", 2 * vowel + _FINAL.get(consonant, consonant)]
    for vowel in "aeou"
    for consonant in "bdfgklmnprtvz"
    if vowel + consonant != "er"
]
_DOUBLED = [[2 * consonant + "en", consonant] for consonant in "bdfgklmnprst"]
_VERBS_IN_EREN = [["eerden", "eren"], ["eerde", "eren"], ["eert", "eren"], ["eer", "eren"]]


def add_lemmatizer(nlp: Language, gold: Iterable[Sentence], silver: Iterable[Sentence]) -> None:
    """Add a lemmatizer by rules to ``nlp``; its tables come from the package spacy-lookups-data."""
    # Not the vocabulary of the pipeline, which would keep every word looked up here.
    draft = spacy.blank("nl")
    lemmatizer = _rules(draft)
    _mend(lemmatizer)
    _learn(lemmatizer, draft.vocab, _observed(gold, silver))
    _prune(lemmatizer, draft.vocab)
    lemmatizer.cache.clear()
    added = cast("Lemmatizer", nlp.add_pipe("lemmatizer", config={"mode": "rule"}))
    added.lookups = lemmatizer.lookups


def _rules(nlp: Language) -> Lemmatizer:
    lemmatizer = cast("Lemmatizer", nlp.add_pipe("lemmatizer", config={"mode": "rule"}))
    lemmatizer.initialize()
    return lemmatizer


def _mend(lemmatizer: Lemmatizer) -> None:
    index, exceptions, rules = (
        lemmatizer.lookups.get_table(f"lemma_{name}") for name in ("index", "exc", "rules")
    )
    # A list is searched from its beginning for every word.
    for part in list(index):
        index[part] = dict.fromkeys(index[part], 1)
    # The treebanks call them auxiliaries, the tables verbs.
    index["aux"] = dict.fromkeys(AUXILIARIES, 1)
    exceptions["aux"] = {form: lemma for form, lemma in exceptions["verb"].items() if lemma[0] in AUXILIARIES}
    # They take "vier" and "tien" for plurals.
    rules["num"] = []
    rules["noun"] = [*rules["noun"][:1], *_LONG_VOWELS, *_DOUBLED, *rules["noun"][1:]]
    rules["verb"] = [*_VERBS_IN_EREN, *rules["verb"]]


def _observed(gold: Iterable[Sentence], silver: Iterable[Sentence]) -> dict[Form, str]:
    """Return forms and the lemma that nearly all their occurrences have."""
    seen: dict[Form, Counter[str]] = defaultdict(Counter)
    for sentences, times in ((gold, _TIMES_GOLD), (silver, 1)):
        for word in (word for sentence in sentences for word in sentence.words):
            if word.pos in _KNOWN and (times > 1 or _is_telling(word)):
                seen[word.text.lower(), word.pos][word.lemma] += times
    best = {form: lemmas.most_common(1)[0] for form, lemmas in seen.items()}
    return {
        form: lemma
        for form, (lemma, times) in best.items()
        if times >= _FEWEST and times >= _LEAST_SHARE * seen[form].total()
    }


def _is_telling(word: UdWord) -> bool:
    # Frog gives a word that it does not know as its own lemma.
    return word.pos in _INFLECTED and word.lemma != word.text.lower()


def _learn(lemmatizer: Lemmatizer, vocab: Vocab, observed: Mapping[Form, str]) -> None:
    """Make exceptions of the forms that the rules get wrong."""
    index, exceptions = (lemmatizer.lookups.get_table(f"lemma_{name}") for name in ("index", "exc"))
    lemmas = _lemmas(lemmatizer, vocab, list(observed))
    for (form, pos), lemma in zip(observed, lemmas, strict=True):
        if lemma != observed[form, pos]:
            part = pos.lower()
            if part not in exceptions:
                exceptions[part] = {}
            exceptions[part][form] = [observed[form, pos]]
            index.get(part, {}).pop(form, None)


def _prune(lemmatizer: Lemmatizer, vocab: Vocab) -> None:
    """Drop what the rules find without the lookup table, which is most of it."""
    entries = cast("dict[str, str]", load_language_data(spacy_lookups_data.nl["lemma_lookup"]))
    index = lemmatizer.lookups.get_table("lemma_index")
    forms = [
        (form, pos)
        for form, lemma in entries.items()
        for pos in _INFLECTED
        if lemma in index[pos.lower()] or form in index[pos.lower()]
    ]
    with_it = _lemmas(lemmatizer, vocab, forms)
    _look_up_in(lemmatizer, {})
    without_it = _lemmas(lemmatizer, vocab, forms)
    changed = {form for (form, _), one, other in zip(forms, with_it, without_it, strict=True) if one != other}
    kept = changed | (entries.keys() - {form for form, _ in forms})
    kept |= {form for form, lemma in entries.items() if lemma in AUXILIARIES}
    _look_up_in(lemmatizer, {form: lemma for form, lemma in entries.items() if form in kept})


def _look_up_in(lemmatizer: Lemmatizer, entries: dict[str, str]) -> None:
    lemmatizer.lookups.remove_table("lemma_lookup")
    lemmatizer.lookups.add_table("lemma_lookup", entries)


def _lemmas(lemmatizer: Lemmatizer, vocab: Vocab, forms: Sequence[Form]) -> list[str]:
    lemmatizer.cache.clear()
    doc = Doc(vocab, words=[form for form, _ in forms], pos=[pos for _, pos in forms])
    return [lemmatizer.rule_lemmatize(token)[0] for token in doc]
