"""A model in ONNX is asked in batches, within its time, and its logits become probabilities."""

import itertools
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from scoring.verifier.onnx import OnnxVerifier, VerifierConfig, open_verifier, read_config
from scoring.verifier.verifying import VerifierInput, VerifierUnavailable

TINY = Path(__file__).parent / "tiny"
YES = VerifierInput("may I", "yes", "other words")


@pytest.fixture(scope="module")
def tiny():
    return open_verifier(TINY)


@pytest.fixture
def folder(tmp_path):
    return Path(shutil.copytree(TINY, tmp_path / "model"))


class TickingClock:
    """Goes on a second with each look at it."""

    def __init__(self):
        self._seconds = itertools.count()

    def __call__(self):
        return float(next(self._seconds))


def test_each_claim_gets_its_opinion_in_the_order_asked_though_batches_are_made_by_length(tiny):
    words = ["yes", "no", "perhaps"]
    asked = [replace(YES, claim=words[n % 3], passage="other " * (20 - n)) for n in range(20)]

    opinions = tiny.verify(asked, "en", timeout_seconds=60).predictions

    for n, opinion in enumerate(opinions):
        probabilities = [opinion.supported, opinion.contradicted, opinion.absent]
        assert probabilities.index(max(probabilities)) == n % 3
        assert sum(probabilities) == pytest.approx(1)


def test_shorter_pairs_of_a_batch_are_not_changed_by_their_padding(tiny):
    long = replace(YES, passage="other " * 50)
    alone = tiny.verify([YES], "en", timeout_seconds=60).predictions[0]
    together = tiny.verify([YES, long], "en", timeout_seconds=60).predictions[0]
    assert together.supported == pytest.approx(alone.supported)


def test_a_language_has_a_temperature_of_its_own_that_makes_probabilities_milder(tiny):
    english = tiny.verify([YES], "en", timeout_seconds=60).predictions[0]
    dutch = tiny.verify([YES], "nl", timeout_seconds=60).predictions[0]
    assert english.supported > dutch.supported > dutch.absent


def test_nothing_is_asked_of_no_claims(tiny):
    told = tiny.verify([], "en", timeout_seconds=60)
    assert told.predictions == ()
    assert told.is_complete


def test_what_time_does_not_suffice_for_has_no_opinion_and_what_was_said_in_time_stays():
    verifier = open_verifier(TINY)
    verifier._clock = TickingClock()

    told = verifier.verify([YES] * 30, "en", timeout_seconds=3)

    given = [opinion for opinion in told.predictions if opinion is not None]
    assert 0 < len(given) < 30
    assert not told.is_complete


def test_a_passage_that_is_too_long_is_cut_and_the_claim_is_not(folder):
    (folder / "verifier.json").write_text(
        '{"labels": ["supported", "contradicted", "absent"], "most_tokens": 16}'
    )
    asked = replace(YES, passage="other " * 500 + "no no no no no")
    opinion = open_verifier(folder).verify([asked], "en", timeout_seconds=60).predictions[0]
    assert opinion.supported > opinion.contradicted


def test_a_claim_longer_than_the_model_reads_is_judged_by_its_beginning(folder):
    (folder / "verifier.json").write_text(
        '{"labels": ["supported", "contradicted", "absent"], "most_tokens": 16}'
    )
    asked = replace(YES, claim="yes " + "other " * 500)
    opinion = open_verifier(folder).verify([asked], "en", timeout_seconds=60).predictions[0]
    assert opinion.supported > opinion.contradicted


def test_the_question_is_put_before_the_claim_where_the_model_is_told_it(folder):
    (folder / "verifier.json").write_text(
        '{"labels": ["supported", "contradicted", "absent"], "first": "claim", "between": " | "}'
    )
    asked = VerifierInput("no no", "yes", "other")
    opinion = open_verifier(folder).verify([asked], "en", timeout_seconds=60).predictions[0]
    assert opinion.contradicted > opinion.supported
    assert VerifierConfig(labels=("supported",), first="claim", between=" | ").texts("q", "c", "p") == (
        "q | c",
        "p",
    )


def test_behind_a_long_question_the_claim_is_not_lost(folder):
    (folder / "verifier.json").write_text(
        '{"labels": ["supported", "contradicted", "absent"], "between": " | ", "most_tokens": 16}'
    )
    opinion = (
        open_verifier(folder).verify([VerifierInput("other " * 500, "yes", "other")], "en", 60).predictions[0]
    )
    assert opinion.supported > opinion.contradicted


def test_a_model_of_two_labels_never_says_that_a_passage_contradicts(folder):
    (folder / "verifier.json").write_text('{"labels": ["absent", "supported", "absent"]}')
    opinion = open_verifier(folder).verify([YES], "en", timeout_seconds=60).predictions[0]
    assert opinion.contradicted == 0
    assert opinion.supported + opinion.absent == pytest.approx(1)


def test_without_a_description_the_labels_of_transformers_are_read(folder):
    (folder / "verifier.json").unlink()
    (folder / "config.json").write_text(
        '{"id2label": {"1": "neutral", "0": "ENTAILMENT", "2": "contradiction"}, "model_type": "bert"}'
    )
    description = read_config(folder)
    assert description.labels == ("supported", "absent", "contradicted")
    assert description.texts("question", "claim", "passage") == ("passage", "claim")
    assert open_verifier(folder).verify([YES], "en", timeout_seconds=60).is_complete


@pytest.mark.parametrize(
    "text",
    [
        '{"labels": ["absent", "contradicted"]}',
        '{"labels": ["supported", "LABEL_1"]}',
        '{"labels": ["supported", "absent"], "temperatures": {"nl": 0}}',
        '{"labels": ["supported", "absent"], "unknown": 1}',
        "[",
    ],
)
def test_a_description_that_tells_too_little_is_refused(folder, text):
    (folder / "verifier.json").write_text(text)
    with pytest.raises(VerifierUnavailable) as refused:
        open_verifier(folder)
    assert refused.value.reason == "verifier_unreadable"


@pytest.mark.parametrize("text", ['{"id2label": {"0": "LABEL_0"}}', "{}"])
def test_labels_that_nobody_knows_are_refused(folder, text):
    (folder / "verifier.json").unlink()
    (folder / "config.json").write_text(text)
    with pytest.raises(VerifierUnavailable):
        open_verifier(folder)


@pytest.mark.parametrize("file", ["model.onnx", "tokenizer.json", "verifier.json"])
def test_a_folder_that_lacks_a_file_is_refused(folder, file):
    (folder / file).unlink()
    with pytest.raises(VerifierUnavailable) as refused:
        open_verifier(folder)
    assert refused.value.reason == "verifier_unreadable"


@pytest.mark.parametrize("file", ["model.onnx", "tokenizer.json"])
def test_a_file_that_is_none_of_its_kind_is_refused(folder, file):
    (folder / file).write_bytes(b"something else")
    with pytest.raises(VerifierUnavailable) as refused:
        open_verifier(folder)
    assert refused.value.reason == "verifier_unreadable"


def test_a_model_with_inputs_that_are_not_known_is_refused():
    class Input:
        name = "pixels"

    class Session:
        def get_inputs(self):
            return [Input()]

    with pytest.raises(ValueError, match="inputs"):
        OnnxVerifier(Session(), None, VerifierConfig(labels=("supported", "absent")))


@pytest.mark.parametrize("labels", ['["supported"]', '["supported", "absent"]'])
def test_a_description_of_other_labels_than_the_model_has_is_refused_at_once(folder, labels):
    (folder / "verifier.json").write_text(f'{{"labels": {labels}}}')
    with pytest.raises(VerifierUnavailable) as refused:
        open_verifier(folder)
    assert refused.value.reason == "verifier_unreadable"


def test_a_tokenizer_with_more_words_than_the_model_is_refused_at_once(folder):
    text = (folder / "tokenizer.json").read_text()
    (folder / "tokenizer.json").write_text(text.replace('"<unk>": 0', '"<unk>": 77', 1))
    with pytest.raises(VerifierUnavailable):
        open_verifier(folder)


def test_without_its_packages_there_is_no_verifier(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "onnxruntime", None)
    with pytest.raises(VerifierUnavailable) as refused:
        open_verifier(TINY)
    assert refused.value.reason == "verifier_not_installed"
