import pickle
import tomllib
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring import (
    Decision,
    Exchange,
    LoneSurrogateError,
    MessageType,
    Passage,
    PipelineError,
    PublishedDocument,
    Scorer,
    ScorerOptions,
)
from scoring.scorer.score import mean_score
from scoring.values.exchange import FeatureValue
from scoring.values.scored_answer import SCORER_VERSION
from tests.unit.scoring.scoring_support import judged, kinds

SCORER, PAPER = Scorer(), Scorer("paper")
GUIDE = "1. Open the **Leave** tab of the employee.\n2. Enter at most 90 days.\n3. Click **Save**."
LEAVE = Passage("leave", f"# Leave\n\n## Enter leave for an employee\n\n{GUIDE}", "Leave")
HOW = "How do I enter leave for an employee?"
STORE = (PublishedDocument(LEAVE.document_id, "en", HOW, GUIDE, auto_send=True),)
VERLOF = Passage(
    "verlof", "Open het tabblad **Verlof** van de medewerker en klik daarna op **Opslaan**.", "Verlof"
)


def judge(answer, question=HOW, context=(LEAVE,), language=None, degraded=()):
    return judged(SCORER, Exchange(question, answer, context, language), degraded)


@pytest.mark.parametrize("scorer", [SCORER, PAPER])
def test_a_document_that_is_marked_is_sent_in_reply_to_its_title(scorer):
    judgement = judged(scorer, Exchange(HOW, f"{GUIDE}\n", (LEAVE,), published_documents=STORE))
    assert (judgement.decision, judgement.score, judgement.reasons) == (
        "auto_send",
        5,
        ("verbatim_document",),
    )
    assert (judgement.language, judgement.message_type) == ("en", "instruction")
    (found,) = (value for value in judgement.features if value.name == "verbatim_document")
    assert [(each.text, each.document_id) for each in found.evidence] == [(GUIDE, "leave")]


def test_a_document_that_is_only_in_the_context_or_not_marked_or_may_be_stale_is_not_sent():
    assert judge(GUIDE).decision == "review"
    unmarked = (replace(STORE[0], auto_send=False),)
    exchange = Exchange(HOW, GUIDE, (LEAVE,), published_documents=STORE)
    assert judged(SCORER, replace(exchange, published_documents=unmarked)).decision == "review"
    assert judged(SCORER, exchange, ("documents_stale",)).decision == "review"


def test_an_undefined_component_wins_over_a_verbatim_guide():
    judgement = judge(f"{GUIDE}\n\n1. Open the **Leave** tab.\n2. Click **Undo**.")
    assert (judgement.decision, judgement.score) == ("blocked", pytest.approx(1.4))
    assert judgement.reasons == ("undefined_component",)
    (components,) = (value for value in judgement.features if value.name == "components_defined")
    assert kinds(components) == [("undefined_component", "Undo")]


def test_other_answers_are_reviewed():
    judgement = judge("You enter leave on the **Leave** tab.")
    assert (judgement.decision, judgement.reasons) == ("review", ("middle_score",))
    assert 1 <= judgement.score <= 5


def test_offsets_are_into_the_answer_with_its_greeting():
    answer = "Good morning Anna!\n\nClick **Undo**."
    evidence = next(
        e for value in judge(answer).features for e in value.evidence if e.kind == "undefined_component"
    )
    assert answer[evidence.start : evidence.end] == "Undo"


def test_dutch_is_judged_as_it_comes():
    judgement = judge("Klik op **Verwijderen**.", "Hoe voer ik verlof in voor een medewerker?", (VERLOF,))
    assert (judgement.language, judgement.decision) == ("nl", "blocked")


def test_the_title_of_a_document_defines_components():
    passage = Passage("x", "Here you enter the days that an employee is not there.", "Leave of absence")
    assert judge("Open **Leave of absence** for the employee.", context=(passage,)).decision == "review"


@pytest.mark.parametrize("context", [(), (Passage("empty", " \n", "Leave"),)])
def test_without_context_there_is_no_score_and_a_person_decides(context):
    judgement = judge(GUIDE, context=context)
    assert (judgement.decision, judgement.score) == ("review", None)
    assert judgement.reasons == judgement.degraded == ("context_missing",)


def test_with_a_part_of_the_context_missing_there_is_a_score_and_a_person_decides():
    judgement = judge("Click **Undo** in the program.", degraded=("context_missing",))
    assert (judgement.decision, judgement.score < 1.5) == ("review", True)
    assert judgement.reasons == ("context_missing", "undefined_component")


def test_a_degraded_answer_is_not_sent():
    judgement = judge(GUIDE, degraded=("translator_down",))
    assert (judgement.decision, judgement.score, judgement.degraded) == ("review", 5, ("translator_down",))


@pytest.mark.parametrize(
    ("question", "answer", "stated", "language"),
    [
        (
            "Wie kann ich den Urlaub eintragen?",
            "Klicken Sie auf die Schaltfläche und warten Sie.",
            None,
            "de",
        ),
        ("How do I enter leave?", GUIDE, "de-AT", "de"),
        ("???", "...", None, None),
    ],
)
def test_a_language_without_a_lexicon_is_not_guessed_at(question, answer, stated, language):
    judgement = judge(answer, question, language=stated)
    assert (judgement.decision, judgement.score, judgement.language) == ("review", None, language)
    assert judgement.reasons[0] in {"language_unsupported", "context_language_differs"}
    assert "language_unsupported" in judgement.degraded


def test_a_stated_code_is_trusted_and_nonsense_is_not():
    assert judge(GUIDE, language="en-GB").language == "en"
    assert judge(GUIDE, language="english please").language == "en"


def test_documents_in_another_language_can_neither_block_nor_send():
    judgement = judge("Click **Undo** in the program.", context=(VERLOF,))
    assert (judgement.decision, judgement.score) == ("review", None)
    mixed = judge("Click **Undo** in the program.", context=(VERLOF, LEAVE))
    assert (mixed.decision, mixed.score < 1.5) == ("review", True)
    assert mixed.degraded == ("context_language_differs",)


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("Why is the leave of this employee gone?", MessageType.REASONING),
        ("What is leave of absence exactly?", MessageType.GENERAL),
        ("Thank you for all of your help today", MessageType.UNSPECIFIED),
    ],
)
def test_message_types_outside_the_profile_have_no_score(question, kind):
    judgement = judged(PAPER, Exchange(question, GUIDE, (LEAVE,)))
    assert (judgement.decision, judgement.score, judgement.message_type) == ("review", None, kind)
    assert judgement.reasons == ("message_type_not_scored",)
    assert judgement.features == ()
    assert judge(GUIDE, question).score is not None


def test_an_unknown_profile_is_refused_with_the_names_there_are():
    with pytest.raises(ValueError, match="'full' is not one of truthgate, paper"):
        Scorer("full")


def test_an_assessment_survives_the_way_between_processes_and_is_repeatable():
    exchange = Exchange(HOW, GUIDE, (LEAVE,))
    assessment = SCORER.score(exchange)
    assert pickle.loads(pickle.dumps(assessment)) == assessment == Scorer().score(exchange)


def test_the_version_is_that_of_the_package():
    project = tomllib.loads((Path(__file__).parents[4] / "pyproject.toml").read_text())
    assert project["project"]["version"] == SCORER_VERSION == judge("x").scorer_version


@settings(deadline=None)
@given(st.text(), st.text(), st.lists(st.text(), max_size=2), st.sampled_from([None, "nl", "en", "de"]))
def test_any_exchange_gets_a_judgement_with_a_reason(question, answer, context, language):
    passages = tuple(Passage(f"d{n}", text) for n, text in enumerate(context))
    judgement = judged(SCORER, Exchange(question, answer, passages, language))
    assert judgement.reasons
    assert judgement.score is None or 1 <= judgement.score <= 5
    assert judgement.decision is not Decision.AUTO_SEND or not judgement.degraded


@pytest.mark.parametrize(
    ("exchange", "name"),
    [
        (Exchange("How\ud800?", "So.", (LEAVE,)), "question"),
        (Exchange(HOW, "\udfffSo.", (LEAVE,)), "answer"),
        (Exchange(HOW, "So.", (LEAVE, Passage("d", "\udc00"))), "context"),
        (Exchange(HOW, "So.", (Passage("d", "So.", "\udbff"),)), "title of a passage"),
    ],
)
def test_a_lone_surrogate_is_refused_without_quoting_the_text(exchange, name):
    with pytest.raises(LoneSurrogateError, match=f"^the {name} holds half of a character"):
        judged(SCORER, exchange)


def test_a_pipeline_of_a_language_without_a_lexicon_is_refused():
    with pytest.raises(PipelineError, match="'fr' has a pipeline and no lexicon, as en, nl have"):
        Scorer(options=ScorerOptions(pipelines=(("fr", "fr_core_news_sm"),)))


def test_each_pipeline_on_demand_is_loaded_once_and_where_the_caller_can_tell():
    loads = []

    @contextmanager
    def loading():
        loads.append("begun")
        yield
        loads.append("done")

    scorer = Scorer(options=ScorerOptions(on_demand=True), loading_context=loading)
    assert loads == []
    for _ in range(2):
        judged(scorer, Exchange(HOW, GUIDE, (LEAVE,)))
        assert loads == ["begun", "done"]


def test_pipelines_on_demand_judge_the_same_and_wrong_ones_are_refused_at_once():
    demanding = Scorer(options=ScorerOptions(on_demand=True))
    for exchange in (Exchange(HOW, GUIDE, (LEAVE,)), Exchange("Hoe?", "Klik op **Nieuw**.", (VERLOF,), "nl")):
        assert judged(demanding, exchange) == judged(SCORER, exchange)
    with pytest.raises(PipelineError, match="'nope' cannot be loaded"):
        Scorer(options=ScorerOptions(pipelines=(("nl", "nope"),), on_demand=True))


def test_the_score_is_the_same_to_the_last_digit_however_a_python_adds_up():
    values = [FeatureValue("a", 0.1), FeatureValue("b", 0.2), FeatureValue("c", 0.3)]
    assert mean_score(values, {}).value == 1 + 4 * 0.6 / 3
