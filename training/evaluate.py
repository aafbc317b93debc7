"""Prints how good and fast a pipeline is: ``python -m training.evaluate --ud DIR NAME``."""

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

import spacy
from spacy.language import Language
from spacy.training import Example

from training.corpus import documents
from training.train import gold
from training.tree import Sentence

_WORDS_A_TEXT = 100
_RELATIONS = ("nsubj", "nsubj:pass", "obj", "root")
_TIMES = 3


def accuracy(nlp: Language, sentences: Sequence[Sentence]) -> dict[str, float]:
    """Return the scores of a pipeline on sentences, each in [0, 1]; punctuation does not count.

    The pipeline gets raw text, of one to four sentences, and cuts it into words and sentences itself.
    """
    docs = documents(sentences, nlp.vocab, seed=0)
    scores = nlp.evaluate([Example(nlp.make_doc(doc.text), doc) for doc in docs])
    names = {
        "UAS": "dep_uas",
        "LAS": "dep_las",
        "UPOS": "pos_acc",
        "lemma": "lemma_acc",
        "sentences": "sents_f",
    }
    by_relation = scores["dep_las_per_type"]
    return {name: scores[key] for name, key in names.items()} | {
        relation: by_relation.get(relation, {"f": 0.0})["f"] for relation in _RELATIONS
    }


def words_per_second(nlp: Language, sentences: Sequence[Sentence]) -> float:
    """Return the best of three: words of texts of 100 words that go through the pipeline in a CPU second."""
    words = " ".join(sentence.text for sentence in sentences).split(" ")
    texts = [" ".join(words[at : at + _WORDS_A_TEXT]) for at in range(0, len(words), _WORDS_A_TEXT)]
    return max(len(words) / _seconds(nlp, texts) for _ in range(_TIMES))


def _seconds(nlp: Language, texts: Sequence[str]) -> float:
    start = time.process_time()
    for _ in nlp.pipe(texts):
        pass
    return time.process_time() - start


def main() -> None:
    """Read the arguments and print the figures."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--ud", type=Path, required=True, help="folder of the two treebanks")
    arguments.add_argument("pipeline", help="a folder, or the name of an installed pipeline")
    given = arguments.parse_args()
    nlp, treebanks = spacy.load(given.pipeline), gold(given.ud)
    parts = {
        "Alpino, test": treebanks.alpino,
        "LassySmall, rest of test": treebanks.lassy,
    }
    for name, sentences in parts.items():
        figures = accuracy(nlp, sentences)
        print(f"{name:26}", *(f"{key} {100 * value:.1f}" for key, value in figures.items()), sep="  ")  # noqa: T201
    print(f"{words_per_second(nlp, treebanks.alpino):,.0f} words in a CPU second")  # noqa: T201


if __name__ == "__main__":
    main()
