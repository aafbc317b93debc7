"""Pairs to learn from are made of the rated answers as their marks say, and of sentences made untrue."""

import random
from pathlib import Path

import numpy as np
import pytest

from training.packed import read_lines, write_lines
from training.verifier.edits import edited
from training.verifier.measure import lift, mixture, temperature
from training.verifier.pairs import (
    ABSENT,
    CONTRADICTED,
    SUPPORTED,
    answer_pairs,
    edit_pairs,
    is_kept_apart,
    twins,
    written_pairs,
)
from training.verifier.texts import claims, context, overlap, stems

VERIFIER = Path(__file__).parents[3] / "training" / "verifier"
ENGLISH = (
    "# Archive folders\n\nOpen **File / Archive** to keep old messages in one file.\n"
    "The archive is written as a zip file unless you choose another format.\n\n"
    "Subfolders are archived as well, unless you clear **Archive all subfolders**.\n"
    "Encrypted messages stay encrypted in the archive, and nobody can read them without the key.\n"
    "A finished archive can be imported again on another computer that has the same program."
)
DUTCH = (
    "# Mappen archiveren\n\nOpen **Bestand / Archiveren** om oude berichten in een bestand te bewaren.\n"
    "Het archief wordt als zip-bestand geschreven, tenzij u een andere opmaak kiest.\n\n"
    "Submappen worden ook gearchiveerd, tenzij u **Alle submappen archiveren** uitzet.\n"
    "Versleutelde berichten blijven in het archief versleuteld, en niemand leest ze zonder de sleutel.\n"
    "Een voltooid archief kan op een andere computer met hetzelfde programma worden ingelezen."
)
DECIDES = "The archive is written as a zip file unless you choose another format."


def answer(name, text, mistakes=(), evidence=DECIDES, rating=5):
    found = [{"document_id": "archive", "passage": evidence}] if evidence else []
    marked = [{"words": words, "kind": kind} for words, kind in mistakes]
    return {
        "answer_id": name,
        "language": "en",
        "question": "In which format is an archive written?",
        "answer": text,
        "document_ids": ["archive"],
        "rating": rating,
        "mistakes": marked,
        "evidence": found,
    }


@pytest.fixture
def corpus(tmp_path):
    def written(*answers):
        for language, text in (("en", ENGLISH), ("nl", DUTCH)):
            document = {"document_id": "archive", "title": "Archive", "language": language, "text": text}
            rated = answers if language == "en" else ()
            for folder, lines in (("documents", [document]), ("answers", rated)):
                path = tmp_path / folder / f"mail.{language}.jsonl.gz"
                path.parent.mkdir(exist_ok=True)
                write_lines(path, lines)
        return tmp_path

    return written


def pairs(folder, **options):
    return list(answer_pairs(folder, ["mail"], random.Random(0), kept_apart=None, **options))


def test_a_true_claim_is_supported_by_the_passage_that_holds_its_words(corpus):
    found = pairs(corpus(answer("a", "An archive is written as a zip file.")))
    supported = [pair for pair in found if pair.label == SUPPORTED]
    assert supported
    assert all("zip file" in pair.passage for pair in supported)
    assert all("zip file" not in pair.passage for pair in found if pair.label == ABSENT)


def test_a_claim_with_a_wrong_detail_is_contradicted_by_what_decides_both_ways(corpus):
    folder = corpus(
        answer("a", "An archive is written as a tar file.", [("tar file", "contradiction")], rating=1)
    )
    one, turned = (pair for pair in pairs(folder) if pair.label == CONTRADICTED)
    assert [one.claim[start:end] for start, end in one.marks] == ["tar file"]
    assert DECIDES in one.passage
    assert (turned.claim, turned.passage) == (one.passage, one.claim)


def test_an_invention_is_in_no_passage(corpus):
    text = "Archives are uploaded to the cloud every night."
    folder = corpus(answer("a", text, [(text, "hallucination")], evidence=None, rating=1))
    assert {pair.label for pair in pairs(folder)} == {ABSENT}


def test_nothing_is_learnt_of_refusals(corpus):
    refused = "I could not find in which format an archive is written."
    folder = corpus(
        answer("right", refused, evidence=None),
        answer("wrong", refused, [(refused, "wrong_refusal")], rating=2),
    )
    assert pairs(folder) == []


def test_what_is_kept_apart_is_not_trained_on(corpus):
    names = [f"mail-en-{number:03}" for number in range(40)]
    folder = corpus(*(answer(name, f"An archive {name} is written as a zip file.") for name in names))

    def claimed(kept_apart):
        found = answer_pairs(folder, ["mail"], random.Random(0), kept_apart=kept_apart)
        return {pair.claim for pair in found}

    assert claimed(True)
    assert claimed(False)
    assert not claimed(True) & claimed(False)
    assert claimed(None) == claimed(True) | claimed(False)
    assert 2 <= sum(map(is_kept_apart, names)) <= 16


def test_pairs_come_again_with_the_passage_in_the_other_language(corpus):
    found = pairs(corpus(answer("a", "An archive is written as a zip file.")), across=1.0)
    across = [pair for pair in found if pair.source == "answer across" and pair.label == SUPPORTED]
    assert across
    assert all("zip-bestand" in pair.passage for pair in across)


def test_a_sentence_and_what_was_made_of_it_come_in_all_four_combinations(corpus):
    found = list(edit_pairs(corpus(), ["mail"], 50, random.Random(1)))
    claims_of = {label: {pair.claim for pair in found if pair.label == label} for label in range(3)}
    untrue = {pair.claim for pair in found if pair.label == CONTRADICTED and pair.marks}
    assert untrue
    assert untrue <= claims_of[SUPPORTED]
    assert claims_of[CONTRADICTED] - untrue


def test_documents_of_other_lines_have_no_twin(corpus):
    folder = corpus()
    path = folder / "documents" / "mail.nl.jsonl.gz"
    (document,) = read_lines(path)
    write_lines(path, [{**document, "text": document["text"] + "\nNog een regel."}])
    assert twins(folder, "mail", "en") == {}


@pytest.mark.parametrize(
    ("sentence", "language"),
    [
        ("The list shows 40 messages.", "en"),
        ("Select **Reply** in the menu.", "en"),
        ("The toolbar is hidden.", "en"),
        ("De werkbalk is verborgen.", "nl"),
        ("De optie is standaard ingeschakeld.", "nl"),
    ],
)
def test_an_edit_changes_what_is_said_and_marks_the_new_words(sentence, language):
    for seed in range(20):
        found = edited(sentence, language, ["Forward"], random.Random(seed))
        assert found.text != sentence
        before, after = found.text[: found.start], found.text[found.end :]
        assert sentence.startswith(before.rstrip())
        assert sentence.endswith(after)


def test_a_sentence_that_allows_no_edit_has_none():
    assert edited("Greetings", "en", [], random.Random(0)) is None


def test_claims_are_neither_greetings_nor_questions_nor_closings():
    text = (
        "Hello!\n\n1. Open the archive dialog.\n2. Choose a format.\n\nDoes that help?\n\nKind regards,\nBot"
    )
    assert [claim.text for claim in claims(text, "en")] == ["Open the archive dialog.", "Choose a format."]


def test_the_best_windows_hold_most_of_a_claim_and_share_no_sentence():
    found = context([{"document_id": "archive", "text": ENGLISH}], "en")
    first, second = found.best(stems("Nobody reads encrypted messages without key", "en"), frozenset(), 2)
    assert "without the key" in first.text
    assert not overlap(first, second)


def test_rare_words_weigh_more_than_frequent_ones():
    found = context([{"document_id": "archive", "text": ENGLISH}], "en")
    assert found.weight(stems("zip", "en")) > found.weight(stems("archive", "en"))


def test_a_model_that_is_too_sure_gets_a_temperature_above_one():
    logits = np.array([[8.0, 0.0, 0.0]] * 10, np.float32)
    right_and_wrong = np.array([0] * 7 + [1] * 3)
    assert temperature(logits, right_and_wrong) > 2


def test_a_mixture_ranks_by_the_column_that_tells():
    generator = np.random.default_rng(0)
    tells, noise = generator.normal(size=200), generator.normal(size=200)
    fitted = mixture(np.column_stack((tells, noise)).tolist(), (tells > 0).tolist())
    low, high = fitted(np.array([[-1.0, 0.0], [1.0, 0.0]]))
    assert low < 0 < high


def test_a_lift_is_the_difference_of_two_areas_under_the_curve():
    true = [True, True, False, False] * 10
    by_chance = [1.0, 0.0, 1.0, 0.0] * 10
    perfect = [1.0, 1.0, 0.0, 0.0] * 10
    found = lift(true, by_chance, perfect)
    assert found.value == pytest.approx(0.5)
    assert 0.3 < found.low <= found.value <= found.high < 0.7


def test_written_claims_have_their_labels_and_marks_and_some_passages_are_kept_apart():
    learnt, kept = (list(written_pairs(VERIFIER, kept_apart=apart)) for apart in (False, True))
    assert {pair.passage for pair in learnt}.isdisjoint(pair.passage for pair in kept)
    assert (len(learnt), len(kept)) == (3400, 350)
    for pair in (*learnt, *kept):
        assert bool(pair.marks) == (pair.label == CONTRADICTED)
        assert all(pair.claim[start:end].strip() for start, end in pair.marks)


@pytest.mark.parametrize("language", ["nl", "en"])
def test_every_written_passage_is_one_of_its_kind(language):
    lines = read_lines(VERIFIER / "written" / f"{language}.jsonl.gz")
    assert len({line["passage"] for line in lines}) == len(lines)
    assert {line["language"] for line in lines} == {language}
