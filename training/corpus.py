"""Sentences with their trees, from CoNLL-U and from Frog, and the documents spaCy learns from."""

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from spacy.tokens import Doc, Token
from spacy.training.converters.conllu_to_docs import conllu_to_docs
from spacy.util import get_words_and_spaces
from spacy.vocab import Vocab

from training.conversion import convert
from training.frog import FrogToken, read_frog
from training.prompts import imperatives
from training.tree import ROOT, Sentence, UdWord

_FEWEST_WORDS, _MOST_WORDS = 2, 45
_MOST_ROOTS = 2
_FUNCTIONS = frozenset({"case", "cc", "det", "mark"})
_CLOSED = frozenset({"ADP", "ADV", "CCONJ", "DET", "SCONJ"})
_MOST_SENTENCES_A_DOCUMENT = 4
_WITHOUT_FINAL_STOP = 0.12


def read_gold(path: Path) -> list[Sentence]:
    """Read a CoNLL-U file; its lemmas become whole words: ``basis_niveau`` is ``basisniveau``."""
    text = path.read_text(encoding="utf-8")
    docs = conllu_to_docs(text, n_sents=1, no_print=True)  # type: ignore[no-untyped-call]
    return [Sentence(doc.text.rstrip(), tuple(_gold_word(token) for token in doc)) for doc in docs]


def _gold_word(token: Token) -> UdWord:
    head = ROOT if token.head.i == token.i else token.head.i
    dep = "root" if token.dep_ == "ROOT" else token.dep_
    return UdWord(token.text, _whole_lemma(token), token.pos_, head, dep)


def _whole_lemma(token: Token) -> str:
    lemma, written = token.lemma_.lower(), token.text.lower()
    if token.tag_.startswith("TW|rang"):
        return written  # the treebanks have "twee" for "tweede"
    if "_" not in lemma.strip("_"):
        return lemma
    first, *_, last = lemma.split("_")
    if token.pos_ == "VERB":
        # The particle of "vul in" stands apart and is a word of its own, that of "ingevuld" does not.
        return lemma.replace("_", "") if written.startswith(first) else last
    # The last part alone is inflected; what stands before it, linking sounds too, is as it is written.
    start = max(written.rfind(last[:3]), 0) or max(written.rfind(last[:2]), 0)
    return written[:start] + last if start else lemma.replace("_", "")


def read_silver(paths: Iterable[Path]) -> Iterator[Sentence]:
    """Yield the sentences that Frog parsed well enough, converted, each text once."""
    seen: set[str] = set()
    for path in paths:
        with path.open(encoding="utf-8") as lines:
            for tokens in read_frog(lines):
                text = _written(tokens)
                if text not in seen and (words := _converted(tokens)):
                    seen.add(text)
                    yield Sentence(text, words)


def _converted(tokens: Sequence[FrogToken]) -> tuple[UdWord, ...] | None:
    if not _FEWEST_WORDS <= len(tokens) <= _MOST_WORDS or _is_doubtful(tokens):
        return None
    words = convert(tokens)
    return words if words and _has_sound_root(tokens, words) and _is_consistent(words) else None


def _is_doubtful(tokens: Sequence[FrogToken]) -> bool:
    """Tell whether Frog found no single tree, or took an imperative ("Voer de naam in") for a noun."""
    roots = [token for token in tokens if token.head == ROOT and not token.tag.startswith("LET")]
    if len(roots) > _MOST_ROOTS:
        return True
    first, second = tokens[0], tokens[1]
    if first.text.lower() in imperatives():
        return not first.tag.startswith("WW")
    opens_an_object = second.tag.startswith(("LID", "VNW(bez")) or second.lemma in {"naar", "op"}
    return first.tag.startswith("N(soort,ev") and opens_an_object


def _has_sound_root(tokens: Sequence[FrogToken], words: Sequence[UdWord]) -> bool:
    finite = any(token.tag.startswith("WW(pv") for token in tokens)
    root = next(index for index, word in enumerate(words) if word.head == ROOT)
    if words[0].text.lower() in imperatives() and words[0].pos == "VERB" and root:
        return False
    verbal = words[root].pos == "VERB" or any(word.head == root and word.dep == "cop" for word in words)
    return verbal or not finite


def _is_consistent(words: Sequence[UdWord]) -> bool:
    """Tell whether function words alone have their relations, and no verb has two subjects."""
    subjects = [word.head for word in words if word.dep.startswith("nsubj")]
    loose = any(word.dep == "parataxis" for word in words)
    closed = all(word.pos in _CLOSED for word in words if word.dep in _FUNCTIONS)
    return closed and not loose and len(subjects) == len(set(subjects))


def _written(tokens: Sequence[FrogToken]) -> str:
    """Return the text that Frog's words came from, nearly: Frog does not tell where spaces were."""
    text = " ".join(token.text for token in tokens)
    for mark in ".,:;!?)”’]":
        text = text.replace(f" {mark}", mark)
    for mark in "(“‘[":
        text = text.replace(f"{mark} ", mark)
    return text


def documents(sentences: Sequence[Sentence], vocab: Vocab, seed: int) -> list[Doc]:
    """Join neighbouring sentences, one to four, to documents; some lose their final stop, as headings do."""
    chance = random.Random(seed)  # noqa: S311 -- reproducible on purpose
    docs, start = [], 0
    while start < len(sentences):
        size = chance.randint(1, _MOST_SENTENCES_A_DOCUMENT)
        parts = [to_doc(sentence, vocab) for sentence in sentences[start : start + size]]
        if size == 1 and chance.random() < _WITHOUT_FINAL_STOP:
            parts = [to_doc(_without_stop(sentences[start]), vocab)]
        docs.append(Doc.from_docs(parts))
        start += size
    return docs


def _without_stop(sentence: Sentence) -> Sentence:
    last = len(sentence.words) - 1
    if last < 1 or sentence.words[last].pos != "PUNCT" or any(word.head == last for word in sentence.words):
        return sentence
    text = sentence.text.rstrip()
    return replace(sentence, text=text[: -len(sentence.words[last].text)], words=sentence.words[:last])


def to_doc(sentence: Sentence, vocab: Vocab) -> Doc:
    """Return the sentence as a document of spaCy with everything that is learned from."""
    words = sentence.words
    texts, spaces = get_words_and_spaces([word.text for word in words], sentence.text)
    if len(texts) != len(words):
        raise ValueError("a sentence has white space that no word has")
    return Doc(
        vocab,
        words=texts,
        spaces=[*spaces[:-1], True],
        pos=[word.pos for word in words],
        lemmas=[word.lemma for word in words],
        heads=[index if word.head == ROOT else word.head for index, word in enumerate(words)],
        deps=["ROOT" if word.head == ROOT else word.dep for word in words],
    )
