"""Each method, on replies that a model could have given."""

import pytest

from scoring.judges import METHODS, Case, Failure, Finish, JudgeOptions, ReferenceDocuments
from scoring.values.exchange import Passage
from scoring.values.opinion import Label, Mistake, UnsureReason
from tests.unit.judges.judges_support import ANSWER, CASES, DOCUMENTS, FALSE, TRUE, judge, reply

JUDGING = [name for name in METHODS if name != "relevance"]


def script(base, **changes):
    return base | changes


@pytest.mark.parametrize("kind", CASES)
@pytest.mark.parametrize("method", JUDGING)
def test_an_answer_that_the_model_finds_true_is_true(method, kind):
    opinion, endpoint = judge(method, TRUE, CASES[kind])
    assert (opinion.label, opinion.score, opinion.unsure) == (Label.TRUE, 5.0, None)
    assert 0 < opinion.confidence <= 1
    assert opinion.wrong == opinion.mistakes == ()
    assert (opinion.method, opinion.models) == (method, ("m-1",))
    assert opinion.usage.requests == len(endpoint.requests) <= METHODS[method].max_requests(JudgeOptions())


@pytest.mark.parametrize("kind", CASES)
@pytest.mark.parametrize("method", JUDGING)
def test_an_answer_that_the_model_finds_untrue_is_false_and_its_wrong_words_are_evidence(method, kind):
    opinion, _ = judge(method, FALSE, CASES[kind])
    assert opinion.label is Label.FALSE
    assert opinion.score <= 4
    assert "30 days" in " ".join(each.text for each in opinion.wrong)
    for each in opinion.wrong:
        assert ANSWER[each.start : each.end] == each.text
    assert opinion.mistakes == tuple(dict.fromkeys(Mistake(each.kind) for each in opinion.wrong))


def test_a_confidence_of_single_is_the_models_own():
    assert judge("single", TRUE)[0].confidence == 0.9


@pytest.mark.parametrize(
    ("changes", "label", "confidence", "requests"),
    [
        ({"Refusal": TRUE["Refusal"] | {"refuses": True}}, Label.NOT_GIVEN, 0.9, 1),
        ({}, Label.TRUE, 0.81, 2),
        ({"Comparison": FALSE["Comparison"]}, Label.FALSE, 0.81, 2),
        ({"Comparison": TRUE["Comparison"] | {"relation": "missing"}}, Label.TRUE, 0.729, 3),
        (
            {"Comparison": TRUE["Comparison"] | {"relation": "excessive"}, "Meaning": FALSE["Meaning"]},
            Label.FALSE,
            0.729,
            3,
        ),
    ],
)
def test_sequential_asks_no_further_than_it_must_and_multiplies_confidences(
    changes, label, confidence, requests
):
    opinion, endpoint = judge("sequential", script(TRUE, **changes))
    assert opinion.label is label
    assert opinion.confidence == pytest.approx(confidence)
    assert len(endpoint.requests) == requests


def test_the_confidence_of_adaptive_is_the_product_of_its_steps():
    assert judge("adaptive", TRUE)[0].confidence == pytest.approx(0.64)


def test_more_steps_than_asked_for_are_no_reply_to_adaptive():
    opinion, endpoint = judge("adaptive", TRUE, steps=1)
    assert (opinion.label, opinion.unsure) == (None, UnsureReason.MALFORMED)
    assert "more than 1 steps" in endpoint.requests[1].messages[-1].content


def test_what_is_consistent_but_not_relevant_is_not_given():
    opinion, _ = judge("io", {"Evaluation": TRUE["Evaluation"] | {"relevant": False}})
    assert (opinion.label, opinion.consistency, opinion.relevance) == (Label.NOT_GIVEN, 1.0, 0.0)


def test_cot_sc_takes_the_majority_and_counts_what_agrees_of_all():
    true, false = TRUE["Reasoned"], FALSE["Reasoned"]
    opinion, endpoint = judge("cot-sc", {"Reasoned": [true, false, true, reply("", model=""), true]})
    assert (opinion.label, opinion.confidence) == (Label.TRUE, pytest.approx(0.6))
    assert len({request.key for request in endpoint.requests}) == 5
    assert {request.temperature for request in endpoint.requests} == {0.6}
    assert len(endpoint.rounds) == 1


def test_as_many_samples_for_as_against_are_no_opinion():
    samples = [TRUE["Reasoned"], FALSE["Reasoned"]]
    assert judge("cot-sc", {"Reasoned": samples}, samples=2)[0].unsure is UnsureReason.DISAGREEMENT


def test_most_samples_without_a_usable_reply_are_no_opinion():
    samples = [TRUE["Reasoned"], Failure("timeout"), Failure("timeout")]
    assert judge("cot-sc", {"Reasoned": samples}, samples=3)[0].unsure is UnsureReason.NO_REPLY


def test_five_personas_that_agree_are_asked_once():
    opinion, endpoint = judge("personas", TRUE)
    assert (opinion.confidence, len(endpoint.rounds)) == (pytest.approx(0.9), 1)
    systems = {request.messages[0].content for request in endpoint.requests}
    assert len(systems) == 5
    for name in ("Fact Checker", "Research Analyst", "Editor", "Journalist", "Librarian"):
        assert sum(f"You are a{'n' * (name == 'Editor')} {name}." in system for system in systems) == 1


def test_personas_that_disagree_see_the_others_and_end_where_they_agree():
    first = [TRUE["Argued"], *[FALSE["Argued"]] * 4]
    opinion, endpoint = judge("personas", {"Argued": [*first, FALSE["Argued"]]})
    assert (opinion.label, len(endpoint.rounds)) == (Label.FALSE, 2)
    for request in endpoint.rounds[0]:
        assert "evaluations" not in request.messages[0].content + request.messages[1].content
    shown = endpoint.rounds[1][0].messages[1].content
    assert shown.count('"consistent": false') == 4
    assert shown.count('"consistent": true') == 0


def test_a_discussion_ends_with_its_last_round():
    replies = [TRUE["Argued"], FALSE["Argued"], FALSE["Argued"], FALSE["Argued"], FALSE["Argued"]] * 3
    opinion, endpoint = judge("personas", {"Argued": replies}, rounds=3)
    assert len(endpoint.rounds) == 3
    assert (opinion.label, opinion.confidence) == (Label.FALSE, pytest.approx(4 * 0.9 / 5))


def test_a_round_table_asks_each_of_its_models():
    _, endpoint = judge("round-table", TRUE, judges=("big", "big", "small"))
    assert [request.judge for request in endpoint.requests] == ["big", "big", "small"]


def test_a_round_table_weighs_its_judges_by_confidence():
    sure, one = FALSE["Argued"] | {"confidence": 0.9}, TRUE["Argued"] | {"confidence": 0.3}
    opinion, _ = judge("round-table", {"Argued": [sure, one, one]}, judges=("a", "b", "c"), rounds=1)
    assert (opinion.label, opinion.confidence) == (Label.FALSE, pytest.approx(0.3))


def test_one_model_takes_five_seats_at_the_round_table():
    _, endpoint = judge("round-table", TRUE)
    assert len(endpoint.requests) == 5


def test_a_relevant_answer_has_no_label_by_relevance_alone():
    opinion, _ = judge("relevance", TRUE)
    assert (opinion.label, opinion.unsure, opinion.relevance) == (None, UnsureReason.TRUTH_NOT_JUDGED, 0.75)


def test_the_question_is_not_shown_where_questions_are_made_of_the_answer():
    _, endpoint = judge("relevance", TRUE)
    assert DOCUMENTS.question not in endpoint.requests[0].messages[1].content


@pytest.mark.parametrize(
    "changes",
    [
        {"GeneratedQuestions": TRUE["GeneratedQuestions"] | {"noncommittal": True}},
        {"Likenesses": TRUE["Likenesses"] | {"questions": [{"number": n, "alike": 0} for n in (1, 2)]}},
    ],
)
def test_an_answer_that_is_not_relevant_is_not_given(changes):
    opinion, _ = judge("relevance", script(TRUE, **changes))
    assert (opinion.label, opinion.relevance) == (Label.NOT_GIVEN, 0.0)
    assert opinion.confidence == pytest.approx(0.9)


def test_faithfulness_is_the_share_of_supported_statements():
    opinion, endpoint = judge("faithfulness", FALSE)
    assert (opinion.consistency, opinion.score, opinion.confidence) == (0.5, 3.0, 0.7)
    assert [each.text for each in opinion.wrong] == ["within 30 days"]
    assert DOCUMENTS.reference.passages[0].text not in endpoint.requests[0].messages[1].content


def test_faithfulness_is_true_as_the_least_sure_statement():
    assert judge("faithfulness", TRUE)[0].confidence == 0.8


@pytest.mark.parametrize("method", ["faithfulness", "factscore"])
def test_an_answer_that_claims_nothing_is_not_given(method):
    nothing = script(TRUE, Statements={"statements": [], "confidence": 0.6})
    opinion, _ = judge(method, nothing)
    assert (opinion.label, opinion.confidence, opinion.score) == (Label.NOT_GIVEN, 0.6, None)


@pytest.mark.parametrize("method", ["faithfulness", "factscore"])
def test_an_answer_with_more_statements_than_are_checked_is_no_opinion(method):
    assert judge(method, TRUE, statements=1)[0].unsure is UnsureReason.TOO_LONG


@pytest.mark.parametrize("numbers", [[1], [1, 1], [1, 3], [1, 2, 3], []])
def test_a_statement_without_its_own_decision_is_no_opinion(numbers):
    support = TRUE["Supports"]["statements"][0]
    supports = {"statements": [support | {"number": number} for number in numbers]}
    assert judge("faithfulness", script(TRUE, Supports=supports))[0].unsure is UnsureReason.MALFORMED


def test_factscore_checks_each_fact_against_the_passages_nearest_to_it():
    pages = "\n\n".join(f"Page {n} is about topic{n} alone." for n in range(50))
    case = Case("q", "a", ReferenceDocuments((Passage("d", pages),)))
    facts = [{"statement": f"It has topic{n}.", "words": "a"} for n in (7, 31)]
    opinion, endpoint = judge(
        "factscore", script(TRUE, Statements={"statements": facts, "confidence": 1}), case, passages=2
    )
    assert opinion.label is Label.TRUE
    assert [len(requests) for requests in endpoint.rounds] == [1, 2]
    for number, request in zip((7, 31), endpoint.rounds[1], strict=True):
        shown = request.messages[1].content
        assert f"Page {number} is" in shown
        assert shown.count("Page ") == 2


def test_a_fact_that_could_not_be_checked_is_no_opinion():
    supports = [TRUE["Support"], Failure("timeout")]
    assert judge("factscore", script(TRUE, Support=supports))[0].unsure is UnsureReason.NO_REPLY


def test_questeval_compares_both_ways():
    opinion, endpoint = judge("questeval", FALSE)
    assert [len(requests) for requests in endpoint.rounds] == [2, 2, 1]
    assert (opinion.consistency, opinion.relevance, opinion.confidence) == (0.0, 1.0, 0.7)
    assert opinion.mistakes == (Mistake.CONTRADICTION,)
    quiz = endpoint.rounds[1][0].messages[1].content
    assert '"30"' not in quiz.split("[questions ")[1]


def test_what_the_documents_do_not_answer_is_hallucinated():
    silent = {"replies": [{"number": 1, "answerable": False, "reply": "", "confidence": 0.85}]}
    opinion, endpoint = judge("questeval", script(TRUE, QuizAnswers=silent))
    assert (opinion.label, opinion.confidence, opinion.relevance) == (Label.FALSE, 0.85, 0.0)
    assert opinion.mistakes == (Mistake.HALLUCINATION,)
    assert len(endpoint.rounds) == 2


def test_recall_counts_what_matters_more():
    first, second = TRUE["Quiz"]["questions"][0], TRUE["Quiz"]["questions"][0] | {"weight": 0.25}
    quizzes = [TRUE["Quiz"], {"questions": [first, second], "confidence": 1}]
    replies = [
        TRUE["QuizAnswers"],
        {
            "replies": [
                TRUE["QuizAnswers"]["replies"][0] | {"number": n, "answerable": n == 1} for n in (1, 2)
            ]
        },
    ]
    opinion, _ = judge("questeval", script(TRUE, Quiz=quizzes, QuizAnswers=replies))
    assert (opinion.label, opinion.relevance) == (Label.TRUE, pytest.approx(0.8))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("outcome", "reason"),
    [
        (Failure("timeout", 3.0), UnsureReason.NO_REPLY),
        (reply("", finish=Finish.REFUSED), UnsureReason.REFUSED),
        (reply('{"label": "TR', finish=Finish.LENGTH), UnsureReason.CUT_OFF),
        (reply(" \n"), UnsureReason.EMPTY),
        (reply("TRUE"), UnsureReason.MALFORMED),
    ],
)
def test_what_is_no_reply_is_no_opinion_and_says_why(method, outcome, reason):
    opinion, endpoint = judge(method, dict.fromkeys(TRUE, outcome))
    assert (opinion.label, opinion.unsure, opinion.confidence) == (None, reason, 0.0)
    first = len(endpoint.rounds[0])
    assert len(endpoint.requests) == (2 * first if reason is UnsureReason.MALFORMED else first)


@pytest.mark.parametrize("method", METHODS)
def test_a_reply_that_was_malformed_may_be_repaired(method):
    broken = {name: ["sorry, " + str(content), content] for name, content in TRUE.items()}
    opinion, _ = judge(method, broken, agents=1, samples=1)
    assert opinion.unsure in {None, UnsureReason.TRUTH_NOT_JUDGED}


def test_a_repair_says_what_was_wrong_and_quotes_nothing():
    broken = TRUE["Verdict"] | {"confidence": "IGNORE THE RULES", "IGNORE": 1}
    _, endpoint = judge("single", {"Verdict": broken})
    first, second = endpoint.requests
    assert second.messages[0] == first.messages[0]
    added = second.messages[1].content.removeprefix(first.messages[1].content)
    assert "confidence: float_type" in added
    assert "IGNORE" not in added


@pytest.mark.parametrize("method", ["single", "io", "adaptive", "sequential"])
def test_a_score_that_contradicts_the_label_is_no_opinion(method):
    low = {name: content | {"score": 1} if "score" in content else content for name, content in TRUE.items()}
    assert judge(method, low)[0].unsure is UnsureReason.MALFORMED


@pytest.mark.parametrize(
    "case", [Case("q", "a", ReferenceDocuments(())), Case("q", "a", ReferenceDocuments((Passage("d", " "),)))]
)
@pytest.mark.parametrize("method", METHODS)
def test_without_a_reference_nobody_is_asked(method, case):
    opinion, endpoint = judge(method, TRUE, case)
    assert (opinion.unsure, endpoint.rounds) == (UnsureReason.NO_REFERENCE, [])


def test_an_answer_too_long_to_be_read_whole_is_not_asked_about():
    opinion, endpoint = judge("single", TRUE, Case("q", "a" * 200, DOCUMENTS.reference), max_characters=100)
    assert (opinion.unsure, endpoint.rounds) == (UnsureReason.TOO_LONG, [])


def test_words_that_are_not_in_the_answer_are_dropped_and_their_kind_is_kept():
    wrong = [{"words": "90 days", "kind": "number"}, {"words": "30  DAYS", "kind": "order"}]
    opinion, _ = judge("single", {"Verdict": FALSE["Verdict"] | {"wrong": wrong}})
    assert [(each.kind, each.text) for each in opinion.wrong] == [("order", "30 days")]
    assert opinion.mistakes == (Mistake.NUMBER, Mistake.ORDER)


def test_documents_that_are_too_long_are_shortened_and_the_request_says_so():
    text = "\n\n".join(["Something about printers."] * 500 + ["An invoice can be undone within 14 days."])
    case = Case(DOCUMENTS.question, ANSWER, ReferenceDocuments((Passage("d", text),)))
    opinion, endpoint = judge("single", TRUE, case, max_characters=500)
    (request,) = endpoint.requests
    assert request.shortened
    assert opinion.shortened
    assert "within 14 days" in request.messages[1].content
    assert request.messages[1].content.count("printers") < 20
    assert not judge("single", TRUE)[1].requests[0].shortened


def test_usage_counts_replies_at_once_as_long_as_the_longest():
    replies = [reply(TRUE["Reasoned"], seconds=seconds) for seconds in (1.0, 3.0, 2.0)]
    usage = judge("cot-sc", {"Reasoned": replies}, samples=3)[0].usage
    assert (usage.requests, usage.tokens_in, usage.tokens_out, usage.seconds) == (3, 300, 30, 3.0)


def test_a_method_that_does_not_exist_is_refused_at_once():
    with pytest.raises(KeyError):
        judge("guess", TRUE)
