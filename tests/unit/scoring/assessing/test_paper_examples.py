"""The examples that the paper gives, each judged against documents written for these tests."""

import pytest

from scoring import Exchange, Passage, Scorer
from tests.unit.scoring.scoring_support import judged

SCORERS = {name: Scorer(name) for name in ("paper", "truthgate")}

CODES = {
    "en": """# Error pages

- **404 Not found.** The page does not exist: the address is misspelt or the page was moved. Correct it.
- **403 Forbidden.** You are not allowed to see the page: your role has no permission. Ask for another role.
""",
    "nl": """# Foutpagina's

- **404 Niet gevonden.** De pagina bestaat niet: het adres is verkeerd getypt of de pagina verplaatst.
- **403 Verboden.** Je mag de pagina niet bekijken: je rol heeft geen toestemming. Vraag een andere rol aan.
""",
}
PAYSLIP = {
    "en": """# Payslips

Go to **HR / Payslips**. Click **Calculate** and then **Publish**. The payslip opens at once.
""",
    "nl": """# Loonstroken

Ga naar **HR / Loonstroken**. Klik op **Berekenen** en daarna op **Publiceren**. De loonstrook opent direct.
""",
}
SALARY = {
    "en": "# Salaries\n\nClick **Salary** to see the salaries of this year by month.",
    "nl": "# Salarissen\n\nKlik op **Salaris** voor de salarissen van dit jaar per maand.",
}
TAX = {
    "en": """# Tax rates

The program takes the tax rates from the tax office each year in January. You may adjust a tax rate by hand.

## Adjusting tax rates manually

1. Go to **Payroll / Settings / Tax rates**.
2. Click **Adjust**, enter the rate and the date, and click **Save**.
""",
    "nl": """# Belastingtarieven

Het programma haalt de belastingtarieven elk jaar in januari op. Je mag een tarief handmatig aanpassen.

## Belastingtarieven handmatig aanpassen

1. Ga naar **Salaris / Instellingen / Belastingtarieven**.
2. Klik op **Aanpassen**, vul het tarief en de datum in en klik op **Opslaan**.
""",
}


def judge(documents, language, question, answer, profile="paper"):
    passage = Passage("d", documents[language])
    return judged(SCORERS[profile], Exchange(question, answer, (passage,), language))


def found(judgement):
    return {(evidence.kind, evidence.text) for value in judgement.features for evidence in value.evidence}


# "I got error 404, what does it mean?": "It means that you are not allowed to see the page."
@pytest.mark.parametrize(
    ("language", "question", "untrue", "true"),
    [
        (
            "en",
            "I got error 404, what does it mean?",
            "It means that you are not allowed to see the page. Your role has no permission.",
            "It means that the page does not exist, since it was moved or the address is misspelt.",
        ),
        (
            "nl",
            "Ik kreeg fout 404, wat betekent dat?",
            "Dat betekent dat je de pagina niet mag bekijken. Je rol heeft geen toestemming.",
            "Dat de pagina niet bestaat, want hij is verplaatst of het adres is verkeerd getypt.",
        ),
    ],
)
def test_an_answer_that_explains_403_to_who_asks_about_404_is_told_from_the_right_one(
    language, question, untrue, true
):
    wrong = judge(CODES, language, question, untrue, "truthgate")
    assert (wrong.message_type, wrong.decision) == ("error", "blocked")
    assert wrong.reasons == ("error_mismatch",)
    right = judge(CODES, language, question, true, "truthgate")
    assert right.message_type == "error"
    assert right.score > wrong.score
    assert right.decision == "review"
    assert {name.name: name.value for name in right.features}["error_mismatch"] == 1


@pytest.mark.parametrize("language", ["en", "nl"])
def test_the_profile_of_the_paper_does_not_score_the_404_question(language):
    question = {"en": "I got error 404, what does it mean?", "nl": "Ik kreeg fout 404, wat betekent dat?"}
    judgement = judge(CODES, language, question[language], "You are not allowed to see the page.")
    assert (judgement.message_type, judgement.score, judgement.decision) == ("error", None, "review")


# "The salary button should be clicked", where the paper's expression expects "Click on: salary".
@pytest.mark.parametrize(
    ("language", "question", "answer", "name"),
    [
        ("en", "How do I publish a payslip?", "Click on **Salary**.", "Salary"),
        ("en", "How do I publish a payslip?", "Click on: **salary**.", None),
        ("en", "How do I publish a payslip?", "The **salary** button should be clicked.", "salary"),
        ("en", "How do I publish a payslip?", 'The "salary" button should be clicked.', "salary"),
        ("en", "How do I publish a payslip?", "The Salary button should be clicked.", "Salary"),
        ("nl", "Hoe publiceer ik een loonstrook?", "Klik op **Salaris**.", "Salaris"),
        ("nl", "Hoe publiceer ik een loonstrook?", "De knop **salaris** moet worden aangeklikt.", "salaris"),
        ("nl", "Hoe publiceer ik een loonstrook?", "Op de knop Salaris moet worden geklikt.", "Salaris"),
        # Known limit, the paper's too: nothing but its noun tells "salary" from "the mouse button".
        ("en", "How do I publish a payslip?", "The salary button should be clicked.", None),
        ("nl", "Hoe publiceer ik een loonstrook?", "Op de salarisknop moet worden geklikt.", None),
    ],
)
def test_a_salary_button_that_no_document_has_blocks_the_answer_in_every_way_to_name_it(
    language, question, answer, name
):
    judgement = judge(PAYSLIP, language, question, answer)
    assert judgement.message_type == "instruction"
    if name is None:
        assert "undefined_component" not in judgement.reasons
        assert judgement.decision != "auto_send"
        return
    assert ("undefined_component", name) in found(judgement)
    assert (judgement.score, judgement.decision) == (1, "blocked")
    defined = judge(SALARY, language, question, answer)
    assert "undefined_component" not in defined.reasons


# "What if I click the salary button" - "It shows a salary overview": hallucinated, and true.
@pytest.mark.parametrize(
    ("language", "question", "answer"),
    [
        ("en", "What if I click the salary button?", "It shows a salary overview."),
        ("nl", "Wat als ik op de knop salaris klik?", "Die toont een salarisoverzicht."),
    ],
)
def test_a_correct_guess_about_a_button_that_the_question_names_is_left_to_a_person(
    language, question, answer
):
    assert judge(SALARY, language, question, answer).decision == "review"
    how = {"en": "How do I use the **Salary** button?", "nl": "Hoe gebruik ik de knop **Salaris**?"}
    named = judge(
        PAYSLIP, language, how[language], {"en": "Click **Salary**.", "nl": "Klik op **Salaris**."}[language]
    )
    assert "undefined_component" not in named.reasons


# "Would it be possible to adjust tax rates manually?", "How would I ...?", and the others of section IV-C.
@pytest.mark.parametrize(
    ("language", "question", "kind", "answer", "decision"),
    [
        (
            "en",
            "Would it be possible to adjust tax rates manually?",
            "binary",
            "Yes, you may adjust a tax rate by hand.",
            "review",
        ),
        (
            "en",
            "Would it be possible to adjust tax rates manually?",
            "binary",
            "Yes, with **Override rates**.",
            "blocked",
        ),
        (
            "en",
            "How would I adjust tax rates manually?",
            "instruction",
            "Go to **Payroll / Settings / Tax rates** and click **Adjust**.",
            "review",
        ),
        (
            "en",
            "How would I adjust tax rates manually?",
            "instruction",
            "Go to **Payroll / Settings / Tariffs**.",
            "blocked",
        ),
        (
            "en",
            "I have adjusted tax settings, why don't I see a payslip anymore?",
            "reasoning",
            "Because you adjusted them.",
            "review",
        ),
        (
            "en",
            "What are the tax rates in the Netherlands?",
            "general",
            "They are 36.97% and 49.5%.",
            "review",
        ),
        (
            "en",
            "write an email to notify customers of the new tax rates.",
            "action",
            "Dear customer, the rates are new.",
            "review",
        ),
        (
            "nl",
            "Zou het mogelijk zijn om belastingtarieven handmatig aan te passen?",
            "binary",
            "Ja, je mag een tarief handmatig aanpassen.",
            "review",
        ),
        (
            "nl",
            "Zou het mogelijk zijn om belastingtarieven handmatig aan te passen?",
            "binary",
            "Ja, met **Tarieven overschrijven**.",
            "blocked",
        ),
        (
            "nl",
            "Hoe pas ik belastingtarieven handmatig aan?",
            "instruction",
            "Ga naar **Salaris / Instellingen / Belastingtarieven** en klik op **Aanpassen**.",
            "review",
        ),
        (
            "nl",
            "Hoe pas ik belastingtarieven handmatig aan?",
            "instruction",
            "Ga naar **Salaris / Instellingen / Heffingen**.",
            "blocked",
        ),
        (
            "nl",
            "Ik heb de belasting aangepast, waarom zie ik geen loonstrook meer?",
            "reasoning",
            "Omdat je ze hebt aangepast.",
            "review",
        ),
        (
            "nl",
            "Wat zijn de belastingtarieven in Nederland?",
            "general",
            "Die zijn 36,97% en 49,5%.",
            "review",
        ),
        (
            "nl",
            "schrijf een mail om klanten te informeren over de nieuwe belastingtarieven.",
            "action",
            "Beste klant, de tarieven zijn nieuw.",
            "review",
        ),
    ],
)
def test_the_tax_rate_questions_get_their_types_and_only_answers_that_could_be_checked_are_judged(
    language, question, kind, answer, decision
):
    judgement = judge(TAX, language, question, answer)
    assert (judgement.message_type, judgement.decision) == (kind, decision)
    assert (judgement.score is None) == (kind not in {"binary", "instruction"})


@pytest.mark.parametrize("language", ["en", "nl"])
def test_the_guide_of_the_document_is_verbatim_and_one_with_another_number_has_a_differing_step(language):
    question = {
        "en": "How would I adjust tax rates manually?",
        "nl": "Hoe kan ik belastingtarieven handmatig aanpassen?",
    }
    guide = TAX[language][TAX[language].index("1. ") :].strip()
    changed = (
        guide.replace("**.\n", "**, 3 times.\n")
        if language == "en"
        else guide.replace("**.\n", "**, 3 keer.\n")
    )
    assert changed != guide
    found = [judge(TAX, language, question[language], answer) for answer in (guide, changed)]
    # What the chatbot brings proves nothing: no document is published.
    assert [judgement.decision for judgement in found] == ["review", "review"]
    verbatim = [v for each in found for v in each.features if v.name == "verbatim_guide"]
    assert verbatim[0].value > verbatim[1].value
    assert [len(value.evidence) > 0 for value in verbatim] == [False, True]


@pytest.mark.parametrize(
    "message", ["Good morning", "I just ate a sandwich", "Goedemorgen", "Ik heb net een boterham gegeten"]
)
def test_what_asks_nothing_is_not_scored(message):
    language = "nl" if message.startswith(("Goede", "Ik")) else "en"
    judgement = judge(TAX, language, message, "Hi.")
    assert (judgement.message_type, judgement.score, judgement.decision) == ("unspecified", None, "review")
