import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring import Exchange, Passage, Policy, Scorer
from scoring.scorer.classification import find_refusal
from scoring.values.exchange import Decision, RefusalKind
from tests.unit.scoring.scoring_support import judged, prepared

QUESTION = {
    "nl": "Hoe zet ik een offerte om naar een order?",
    "en": "How do I convert a quotation into an order?",
}
FULL = [
    ("nl", "Dat kan ik niet vinden in de documentatie."),
    ("nl", "Helaas kan ik hierover geen informatie vinden. Neem contact op met support."),
    ("nl", "Sorry, dat weet ik niet."),
    ("nl", "In de beschikbare documentatie staat niet beschreven hoe je een offerte omzet naar een order."),
    ("nl", "De documentatie bevat geen informatie over het omzetten. Vraag het na bij een collega."),
    ("nl", "Ik heb niet genoeg informatie om je vraag te beantwoorden."),
    ("nl", "Ik kan daar op basis van de gegeven documenten geen antwoord op geven."),
    ("nl", "Op deze vraag kan ik helaas geen antwoord geven, raadpleeg de helpdesk."),
    ("en", "I could not find that in the documentation."),
    ("en", "Unfortunately I can't find any information about this. Please contact support."),
    ("en", "Sorry, I don't know."),
    ("en", "The documentation does not describe how to convert a quotation into an order."),
    ("en", "I don't have enough information to answer your question."),
    ("en", "The help articles do not mention orders, so I cannot answer that. Please contact our team."),
    ("en", "I'm afraid I am unable to find this in the documents provided."),
]
PARTIAL = [
    ("nl", "Ik kan dat niet vinden, maar klik op Opslaan."),
    ("nl", "Ik kan dat niet vinden in de documentatie. Ga naar het menu en kies Omzetten."),
    ("nl", "Dat staat niet in de documentatie, maar meestal gaat het vanzelf."),
    ("nl", "Dat kan ik niet vinden. Bel 020-1234567."),
    ("nl", "Nee, daar kan ik niets over vinden."),
    ("nl", "Dat kan niet. Ik kan het niet vinden in de documentatie."),
    ("nl", "Ik kan dat niet vinden en de offerte vervalt na een maand."),
    ("nl", "Dat kan ik niet vinden. Een offerte kun je omzetten."),
    ("nl", "Dat kan ik niet vinden, maar omzetten mag."),
    ("en", "I could not find that. The quotation can be converted into an order."),
    ("en", "Can't find it? Just convert the quotation again."),
    ("en", "I can't find that, but click **Save**."),
    ("en", "I could not find that in the documentation. Open the menu and choose Convert."),
    ("en", "That is not in the documentation, but normally it happens by itself."),
    ("en", "I could not find it. Call 555-0100."),
    ("en", "No, I could not find anything about that."),
    ("en", "You can. I could not find it in the documentation."),
    ("en", "I could not find that and the quotation expires after a month."),
]
NONE = [
    ("nl", "Klik op **Omzetten**."),
    ("nl", "Nee, dat kan niet."),
    ("nl", "Een offerte kan niet worden omgezet als hij verlopen is."),
    ("nl", "Je vindt de knop niet als je de rol niet hebt."),
    ("nl", "Neem contact op met je beheerder voor de rol."),
    ("nl", ""),
    ("en", "Click **Convert**."),
    ("en", "No, that is not possible."),
    ("en", "A quotation can't be converted once it has expired."),
    ("en", "Contact your administrator to get the role."),
    ("en", ""),
]


def refused(language, answer):
    return find_refusal(prepared(answer, language), prepared(QUESTION[language], language))


@pytest.mark.parametrize(
    ("language", "answer", "kind"),
    [
        *((*case, RefusalKind.FULL) for case in FULL),
        *((*case, RefusalKind.PARTIAL) for case in PARTIAL),
        *((*case, None) for case in NONE),
    ],
)
def test_a_refusal_is_full_where_the_answer_says_nothing_about_the_product(language, answer, kind):
    found = refused(language, answer)
    assert (found and found.kind) == kind


@given(st.lists(st.sampled_from(["I can't find", "that", "but", "click", "Save", ".", "\n", "7", "order"])))
def test_a_refusal_has_evidence_in_the_answer(pieces):
    answer = " ".join(pieces)
    found = refused("en", answer)
    assert (found is not None) == ("I can't find" in pieces)
    for evidence in found.evidence if found else ():
        assert (evidence.kind, answer[evidence.start : evidence.end]) == ("refusal", evidence.text)


ORDER = Passage(
    "d", "Open **Sales / Quotations**, click **Accept** and then **Convert**. The order opens at once."
)


@pytest.fixture(scope="module")
def scorer():
    return Scorer()


def judge(scorer, answer, question=QUESTION["en"], policy=Policy()):  # noqa: B008 - frozen
    return judged(scorer, Exchange(question, answer, (ORDER,), "en"), policy=policy)


@pytest.mark.parametrize("question", [QUESTION["en"], "Why can't I find the order?", "What is an order?"])
def test_a_refusal_is_reviewed_with_its_sentence_as_evidence(scorer, question):
    judgement = judge(scorer, "Sorry, I could not find that in the documentation.", question)
    assert (judgement.decision, judgement.reasons[0]) == ("review", "refusal")
    (feature,) = (value for value in judgement.features if value.name == "refusal")
    assert feature.value is None
    assert feature.evidence[0].text == "Sorry, I could not find that in the documentation"


def test_a_refusal_is_sent_only_where_that_is_configured(scorer):
    sending = Policy(refusal=Decision.AUTO_SEND)
    for answer, decision in (
        ("I could not find that in the documentation.", "auto_send"),
        ("I could not find that, but click Convert.", "review"),
        ("I could not find that, but click **Undo**.", "blocked"),
    ):
        assert judge(scorer, answer, policy=sending).decision == decision


@pytest.mark.parametrize(
    ("advice", "is_full"),
    [
        ("Please contact our team about your licence.", True),
        ("Please contact our team about your licence, the invoices, a contract and payment.", False),
        ("Please contact our team about Invoices.", False),
        ("Please contact our team and delete it.", False),
        ("Please contact our team about version 7.", False),
        ("That can be done.", False),
    ],
)
def test_advice_beside_a_refusal_may_have_three_words_and_no_name_number_or_action(advice, is_full):
    found = refused("en", f"I could not find that in the documentation. {advice}")
    assert (found.kind is RefusalKind.FULL) is is_full
