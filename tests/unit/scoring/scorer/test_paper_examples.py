"""The examples that the paper gives, each judged against documents written for these tests."""

import pytest

from scoring import Exchange, Passage, Scorer
from tests.unit.scoring.scoring_support import judged, kinds

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


LANGUAGES = pytest.mark.parametrize("language", ["en", "nl"])
ERROR_QUESTION = {"en": "I got error 404, what does it mean?", "nl": "Ik kreeg fout 404, wat betekent dat?"}


# "I got error 404, what does it mean?": "It means that you are not allowed to see the page."
@pytest.mark.parametrize(
    ("language", "untrue", "true"),
    [
        (
            "en",
            "It means that you are not allowed to see the page. Your role has no permission.",
            "It means that the page does not exist, since it was moved or the address is misspelt.",
        ),
        (
            "nl",
            "Dat betekent dat je de pagina niet mag bekijken. Je rol heeft geen toestemming.",
            "Dat de pagina niet bestaat, want hij is verplaatst of het adres is verkeerd getypt.",
        ),
    ],
)
def test_an_explanation_of_403_is_blocked_for_a_question_about_404(language, untrue, true):
    question = ERROR_QUESTION[language]
    wrong = judge(CODES, language, question, untrue, "truthgate")
    assert (wrong.message_type, wrong.decision, wrong.reasons) == ("error", "blocked", ("error_mismatch",))
    right = judge(CODES, language, question, true, "truthgate")
    assert (right.message_type, right.decision) == ("error", "review")
    assert right.score > wrong.score
    assert {value.name: value.value for value in right.features}["error_mismatch"] == 1
    by_paper = judge(CODES, language, question, untrue)
    assert (by_paper.message_type, by_paper.score, by_paper.decision) == ("error", None, "review")


HOW = {"en": "How do I publish a payslip?", "nl": "Hoe publiceer ik een loonstrook?"}


# "The salary button should be clicked", where the paper's expression expects "Click on: salary".
@pytest.mark.parametrize(
    ("language", "answer", "name"),
    [
        ("en", "Click on **Salary**.", "Salary"),
        ("en", "Click on: **salary**.", None),
        ("en", "The **salary** button should be clicked.", "salary"),
        ("en", 'The "salary" button should be clicked.', "salary"),
        ("en", "The Salary button should be clicked.", "Salary"),
        ("nl", "Klik op **Salaris**.", "Salaris"),
        ("nl", "De knop **salaris** moet worden aangeklikt.", "salaris"),
        ("nl", "Op de knop Salaris moet worden geklikt.", "Salaris"),
        # Known limit, the paper's too: only its noun separates "salary" from "the mouse button".
        ("en", "The salary button should be clicked.", None),
        ("nl", "Op de salarisknop moet worden geklikt.", None),
    ],
)
def test_an_undefined_salary_button_blocks_the_answer_in_every_notation(language, answer, name):
    judgement = judge(PAYSLIP, language, HOW[language], answer)
    assert judgement.message_type == "instruction"
    if name is None:
        assert "undefined_component" not in judgement.reasons
        assert judgement.decision != "auto_send"
        return
    found = [pair for value in judgement.features for pair in kinds(value)]
    assert ("undefined_component", name) in found
    assert (judgement.score, judgement.decision) == (1, "blocked")
    assert "undefined_component" not in judge(SALARY, language, HOW[language], answer).reasons


# "What if I click the salary button" - "It shows a salary overview": hallucinated, and true.
@pytest.mark.parametrize(
    ("language", "question", "answer", "how", "click"),
    [
        (
            *("en", "What if I click the salary button?", "It shows a salary overview."),
            *("How do I use the **Salary** button?", "Click **Salary**."),
        ),
        (
            *("nl", "Wat als ik op de knop salaris klik?", "Die toont een salarisoverzicht."),
            *("Hoe gebruik ik de knop **Salaris**?", "Klik op **Salaris**."),
        ),
    ],
)
def test_a_correct_guess_about_a_button_in_the_question_is_reviewed(language, question, answer, how, click):
    assert judge(SALARY, language, question, answer).decision == "review"
    assert "undefined_component" not in judge(PAYSLIP, language, how, click).reasons


# "Would it be possible to adjust tax rates manually?", "How would I ...?", and the others of section IV-C.
TAX_QUESTIONS = {
    "binary": (
        "Would it be possible to adjust tax rates manually?",
        "Zou het mogelijk zijn om belastingtarieven handmatig aan te passen?",
    ),
    "instruction": ("How would I adjust tax rates manually?", "Hoe pas ik belastingtarieven handmatig aan?"),
    "reasoning": (
        "I have adjusted tax settings, why don't I see a payslip anymore?",
        "Ik heb de belasting aangepast, waarom zie ik geen loonstrook meer?",
    ),
    "general": ("What are the tax rates in the Netherlands?", "Wat zijn de belastingtarieven in Nederland?"),
    "action": (
        "write an email to notify customers of the new tax rates.",
        "schrijf een mail om klanten te informeren over de nieuwe belastingtarieven.",
    ),
}
TAX_ANSWERS = [
    (
        *("binary", "review", "Yes, you may adjust a tax rate by hand."),
        "Ja, je mag een tarief handmatig aanpassen.",
    ),
    ("binary", "blocked", "Yes, with **Override rates**.", "Ja, met **Tarieven overschrijven**."),
    (
        *("instruction", "review", "Go to **Payroll / Settings / Tax rates** and click **Adjust**."),
        "Ga naar **Salaris / Instellingen / Belastingtarieven** en klik op **Aanpassen**.",
    ),
    (
        *("instruction", "blocked", "Go to **Payroll / Settings / Tariffs**."),
        "Ga naar **Salaris / Instellingen / Heffingen**.",
    ),
    ("reasoning", "review", "Because you adjusted them.", "Omdat je ze hebt aangepast."),
    ("general", "review", "They are 36.97% and 49.5%.", "Die zijn 36,97% en 49,5%."),
    ("action", "review", "Dear customer, the rates are new.", "Beste klant, de tarieven zijn nieuw."),
]


@LANGUAGES
@pytest.mark.parametrize(("kind", "decision", "english", "dutch"), TAX_ANSWERS)
def test_tax_rate_questions_have_their_types_and_only_checked_answers_are_scored(
    language, kind, decision, english, dutch
):
    question = TAX_QUESTIONS[kind][language == "nl"]
    judgement = judge(TAX, language, question, dutch if language == "nl" else english)
    assert (judgement.message_type, judgement.decision) == (kind, decision)
    assert (judgement.score is None) == (kind not in {"binary", "instruction"})


@LANGUAGES
def test_the_documents_guide_is_verbatim_and_a_changed_number_is_a_differing_step(language):
    question = {
        "en": "How would I adjust tax rates manually?",
        "nl": "Hoe kan ik belastingtarieven handmatig aanpassen?",
    }[language]
    guide = TAX[language][TAX[language].index("1. ") :].strip()
    changed = guide.replace("**.\n", "**, 3 times.\n" if language == "en" else "**, 3 keer.\n")
    judgements = [judge(TAX, language, question, answer) for answer in (guide, changed)]
    # The chatbot's context proves nothing: no document is published.
    assert [judgement.decision for judgement in judgements] == ["review", "review"]
    same, other = (v for each in judgements for v in each.features if v.name == "verbatim_guide")
    assert same.value > other.value
    assert (bool(same.evidence), bool(other.evidence)) == (False, True)


@pytest.mark.parametrize(
    ("language", "message"),
    [
        ("en", "Good morning"),
        ("en", "I just ate a sandwich"),
        ("nl", "Goedemorgen"),
        ("nl", "Ik heb net een boterham gegeten"),
    ],
)
def test_a_message_that_asks_nothing_is_not_scored(language, message):
    judgement = judge(TAX, language, message, "Hi.")
    assert (judgement.message_type, judgement.score, judgement.decision) == ("unspecified", None, "review")
