"""Prints how near Frog's converted trees come to gold ones; the arguments are those of its ``--help``."""

import argparse
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from spacy.scorer import Scorer
from spacy.tokens import Token
from spacy.training import Example
from spacy.vocab import Vocab

from training.conversion import convert
from training.corpus import read_gold, to_doc
from training.frog import FrogToken, read_frog, run_frog
from training.tree import Sentence


def figures(gold: Sequence[Sentence], work: Path) -> dict[str, float]:
    """Return the scores of Frog and the conversion on gold sentences, parsed from their raw text.

    Sentences that Frog cut in several or that gave no tree are left out; ``share`` says how many were not.
    """
    parts = run_frog([sentence.text for sentence in gold], work)
    parsed = (tokens for part in parts for tokens in _sentences(part))
    examples = list(_examples(gold, parsed))
    scores = Scorer.score_deps(examples, "dep", getter=_value, ignore_labels=("punct",))
    scores |= Scorer.score_token_attr(examples, "pos", getter=_value)
    scores |= Scorer.score_token_attr(examples, "lemma", getter=_value)
    names = {"UAS": "dep_uas", "LAS": "dep_las", "UPOS": "pos_acc", "lemma": "lemma_acc"}
    nsubj = scores["dep_las_per_type"]["nsubj"]["f"]
    return {name: scores[key] for name, key in names.items()} | {
        "nsubj": nsubj,
        "share": len(examples) / len(gold),
    }


def _sentences(part: Path) -> Iterator[tuple[FrogToken, ...]]:
    with part.open(encoding="utf-8") as lines:
        yield from read_frog(lines)


def _value(token: Token, attribute: str) -> str:
    value: str = getattr(token, f"{attribute}_")
    return value


def _examples(gold: Iterable[Sentence], parsed: Iterator[Sequence[FrogToken]]) -> Iterator[Example]:
    vocab = Vocab()
    for sentence in gold:
        wanted = _letters(sentence.text)
        pieces = [next(parsed)]
        while sum(len(token.text) for piece in pieces for token in piece) < len(wanted):
            pieces.append(next(parsed))
        words = convert(pieces[0]) if len(pieces) == 1 else None
        if words and _letters("".join(word.text for word in words)) == wanted:
            yield Example(to_doc(Sentence(sentence.text, words), vocab), to_doc(sentence, vocab))


def _letters(text: str) -> str:
    return "".join(text.split())


def main() -> None:
    """Read the arguments and print the figures."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--gold", type=Path, required=True, help="a CoNLL-U file of gold sentences")
    arguments.add_argument("--work", type=Path, required=True, help="folder for what Frog gives")
    given = arguments.parse_args()
    found = figures(read_gold(given.gold), given.work)
    print(*(f"{name} {100 * value:.1f}" for name, value in found.items()), sep="  ")  # noqa: T201


if __name__ == "__main__":
    main()
