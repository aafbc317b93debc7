"""Trains the pipeline: ``python -m training.train --ud DIR --sentences FILE --out DIR``.

Gold sentences come from Universal Dependencies, silver ones from Frog, imperatives and questions from
the grammar of `prompts`. Whatever was made is kept in the work folder and not made again.
"""

import argparse
import random
import shutil
from dataclasses import dataclass
from pathlib import Path

import spacy
from spacy.cli.train import train
from spacy.tokens import DocBin
from spacy.vocab import Vocab

from training.corpus import documents, read_gold, read_silver
from training.frog import run_frog
from training.lemmas import add_lemmatizer
from training.prompts import prompts
from training.tree import Sentence

_FOLDER = Path(__file__).parent
_SEED = 0
# The last sentences of the development parts choose the best model.
_DEVELOPMENT = 100
# Of LassySmall's test part the first so many train; the others, and all of Alpino's, are kept apart.
_TRAINED_OF_TEST = 1200
_TIMES_GOLD = 3
_PROMPTS = 4000


@dataclass(frozen=True, slots=True)
class Gold:
    """Gold sentences; ``alpino`` and ``lassy`` are kept apart for the report."""

    train: list[Sentence]
    development: list[Sentence]
    alpino: list[Sentence]
    lassy: list[Sentence]


def gold(folder: Path) -> Gold:
    """Read and divide the treebanks in ``folder``: UD_Dutch-Alpino and UD_Dutch-LassySmall."""
    alpino, lassy = folder / "UD_Dutch-Alpino", folder / "UD_Dutch-LassySmall"
    alpino_dev = read_gold(alpino / "nl_alpino-ud-dev.conllu")
    lassy_dev = read_gold(lassy / "nl_lassysmall-ud-dev.conllu")
    lassy_test = read_gold(lassy / "nl_lassysmall-ud-test.conllu")
    return Gold(
        train=[*alpino_dev[:-_DEVELOPMENT], *lassy_dev[:-_DEVELOPMENT], *lassy_test[:_TRAINED_OF_TEST]],
        development=[*alpino_dev[-_DEVELOPMENT:], *lassy_dev[-_DEVELOPMENT:]],
        alpino=read_gold(alpino / "nl_alpino-ud-test.conllu"),
        lassy=lassy_test[_TRAINED_OF_TEST:],
    )


def silver(sentences: Path, work: Path) -> list[Sentence]:
    """Return the sentences of a file of one a line, parsed by Frog; ``**`` marks are left out."""
    lines = [line.replace("**", "") for line in sentences.read_text(encoding="utf-8").splitlines()]
    return list(read_silver(run_frog(lines, work / "frog")))


def write_corpora(treebanks: Gold, silver_sentences: list[Sentence], work: Path) -> None:
    """Write train.spacy and dev.spacy; the gold sentences come several times, grouped differently."""
    vocab = Vocab()
    docs = documents(silver_sentences, vocab, _SEED) + documents(list(prompts(_PROMPTS, _SEED)), vocab, _SEED)
    for time in range(_TIMES_GOLD):
        docs += documents(treebanks.train, vocab, time)
    random.Random(_SEED).shuffle(docs)  # noqa: S311 -- reproducible on purpose
    DocBin(docs=docs).to_disk(work / "train.spacy")
    DocBin(docs=documents(treebanks.development, vocab, _SEED)).to_disk(work / "dev.spacy")


def install(trained: Path, out: Path, treebanks: Gold, silver_sentences: list[Sentence]) -> None:
    """Put the best model into ``out``, with a lemmatizer and the note on its licenses."""
    # Its vocabulary is every word of the training texts; the model needs none of them.
    nlp = spacy.load(trained, exclude=["vocab"])
    nlp.config["paths"].update(train=None, dev=None)
    add_lemmatizer(nlp, treebanks.train, silver_sentences)
    nlp.meta.update(
        name="truthgate",
        version="1.0.0",
        license="CC BY-SA 4.0",
        description="Dutch: parts of speech, lemmas and dependencies of help texts and questions",
    )
    shutil.rmtree(out, ignore_errors=True)
    nlp.to_disk(out)
    shutil.copy(_FOLDER / "MODEL_LICENSE.md", out / "LICENSE.md")


def main() -> None:
    """Read the arguments and train."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument("--ud", type=Path, required=True, help="folder of the two treebanks")
    arguments.add_argument("--sentences", type=Path, required=True, help="Dutch help text, a sentence a line")
    arguments.add_argument("--out", type=Path, required=True, help="where the pipeline goes")
    arguments.add_argument("--work", type=Path, default=Path("nl_truthgate_work"), help="intermediate files")
    given = arguments.parse_args()
    given.work.mkdir(parents=True, exist_ok=True)
    treebanks, silver_sentences = gold(given.ud), silver(given.sentences, given.work)
    done = given.work / "trained"
    if not done.exists():
        write_corpora(treebanks, silver_sentences, given.work)
        paths = {f"paths.{part}": str(given.work / f"{part}.spacy") for part in ("train", "dev")}
        train(_FOLDER / "config.cfg", given.work / "model", overrides=paths)
        done.touch()
    install(given.work / "model" / "model-best", given.out, treebanks, silver_sentences)


if __name__ == "__main__":
    main()
