"""A model in ONNX is run in batches within its timeout, and its logits become probabilities."""

import itertools
import json
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from scoring.verifier.onnx import (
    OnnxVerifier,
    VerifierConfig,
    VerifierInput,
    VerifierUnavailable,
    open_verifier,
    read_config,
)

TINY = Path(__file__).parent / "tiny"
YES = VerifierInput("may I", "yes", "other words")


@pytest.fixture(scope="module")
def tiny():
    return open_verifier(TINY)


@pytest.fixture
def folder(tmp_path):
    return Path(shutil.copytree(TINY, tmp_path / "model"))


def predict(verifier, claim=YES, language="en"):
    return verifier.verify([claim], language, timeout_seconds=60).predictions[0]


def predict_with(folder, config, claim):
    """Predict with another configuration of the model."""
    labels = {"labels": ["supported", "contradicted", "absent"]}
    (folder / "verifier.json").write_text(json.dumps({**labels, **config}))
    return predict(open_verifier(folder), claim)


def refusal(folder):
    with pytest.raises(VerifierUnavailable) as refused:
        open_verifier(folder)
    assert "\n" not in str(refused.value)
    return refused.value


def test_predictions_are_in_the_order_of_the_claims_though_batches_are_by_length(tiny):
    words = ["yes", "no", "perhaps"]
    claims = [replace(YES, claim=words[n % 3], passage="other " * (20 - n)) for n in range(20)]
    for n, prediction in enumerate(tiny.verify(claims, "en", timeout_seconds=60).predictions):
        probabilities = [prediction.supported, prediction.contradicted, prediction.absent]
        assert probabilities.index(max(probabilities)) == n % 3
        assert sum(probabilities) == pytest.approx(1)


def test_padding_does_not_change_a_prediction(tiny):
    batch = [YES, replace(YES, passage="other " * 50)]
    padded = tiny.verify(batch, "en", timeout_seconds=60).predictions[0]
    assert padded.supported == pytest.approx(predict(tiny).supported)


def test_the_temperature_of_a_language_makes_probabilities_milder(tiny):
    english, dutch = (predict(tiny, language=language) for language in ("en", "nl"))
    assert english.supported > dutch.supported > dutch.absent


def test_no_claims_have_no_predictions(tiny):
    result = tiny.verify([], "en", timeout_seconds=60)
    assert (result.predictions, result.is_complete) == ((), True)


def test_claims_beyond_the_timeout_have_no_prediction():
    verifier, seconds = open_verifier(TINY), itertools.count()
    verifier._clock = lambda: float(next(seconds))
    result = verifier.verify([YES] * 30, "en", timeout_seconds=3)
    assert 0 < sum(prediction is not None for prediction in result.predictions) < 30
    assert not result.is_complete


@pytest.mark.parametrize(
    ("config", "claim"),
    [
        ({}, replace(YES, passage="other " * 500 + "no no no no no")),
        ({}, replace(YES, claim="yes " + "other " * 500)),
        ({"between": " | "}, VerifierInput("other " * 500, "yes", "other")),
    ],
    ids=["passage", "claim", "question"],
)
def test_the_start_of_the_claim_survives_truncation(folder, config, claim):
    prediction = predict_with(folder, {"max_tokens": 16, **config}, claim)
    assert prediction.supported > prediction.contradicted


def test_a_separator_puts_the_question_before_the_claim(folder):
    config = {"first": "claim", "between": " | "}
    prediction = predict_with(folder, config, VerifierInput("no no", "yes", "other"))
    assert prediction.contradicted > prediction.supported
    assert VerifierConfig(labels=("supported",), **config).texts("q", "c", "p") == ("q | c", "p")


def test_a_model_of_two_labels_predicts_no_contradiction(folder):
    prediction = predict_with(folder, {"labels": ["absent", "supported", "absent"]}, YES)
    assert prediction.contradicted == 0
    assert prediction.supported + prediction.absent == pytest.approx(1)


def test_without_a_configuration_the_labels_of_transformers_are_read(folder):
    (folder / "verifier.json").unlink()
    (folder / "config.json").write_text(
        '{"id2label": {"1": "neutral", "0": "ENTAILMENT", "2": "contradiction"}, "model_type": "bert"}'
    )
    config = read_config(folder)
    assert config.labels == ("supported", "absent", "contradicted")
    assert config.texts("question", "claim", "passage") == ("passage", "claim")
    assert predict(open_verifier(folder))


@pytest.mark.parametrize(
    "text",
    [
        '{"labels": ["absent", "contradicted"]}',
        '{"labels": ["supported", "LABEL_1"]}',
        '{"labels": ["supported", "absent"], "temperatures": {"nl": 0}}',
        '{"labels": ["supported", "absent"], "unknown": 1}',
        "[",
        '{"labels": ["supported"]}',
        '{"labels": ["supported", "absent"]}',
    ],
)
def test_an_invalid_configuration_or_one_of_another_model_is_refused(folder, text):
    (folder / "verifier.json").write_text(text)
    assert refusal(folder).reason == "verifier_unreadable"


@pytest.mark.parametrize("text", ['{"id2label": {"0": "LABEL_0"}}', "{}"])
def test_unknown_labels_are_refused(folder, text):
    (folder / "verifier.json").unlink()
    (folder / "config.json").write_text(text)
    assert refusal(folder).reason == "verifier_unreadable"


@pytest.mark.parametrize("file", ["model.onnx", "tokenizer.json", "verifier.json"])
def test_a_missing_or_invalid_file_is_refused(folder, file):
    (folder / file).write_bytes(b"something else")
    assert refusal(folder).reason == "verifier_unreadable"
    (folder / file).unlink()
    error = refusal(folder)
    assert error.reason == "verifier_unreadable"
    assert file in str(error)
    assert str(folder) in str(error)


def test_a_model_with_unknown_inputs_is_refused():
    session = SimpleNamespace(get_inputs=lambda: [SimpleNamespace(name="pixels")])
    with pytest.raises(ValueError, match="inputs"):
        OnnxVerifier(session, None, VerifierConfig(labels=("supported", "absent")))


def test_a_tokenizer_with_more_words_than_the_model_is_refused(folder):
    text = (folder / "tokenizer.json").read_text()
    (folder / "tokenizer.json").write_text(text.replace('"<unk>": 0', '"<unk>": 77', 1))
    assert refusal(folder).reason == "verifier_unreadable"


def test_without_its_packages_there_is_no_verifier(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    assert refusal(TINY).reason == "verifier_not_installed"
