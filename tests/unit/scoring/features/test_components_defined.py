import time

import pytest

from scoring.components.marked_components import components
from scoring.features.components_defined import ComponentsDefined
from tests.unit.scoring.scoring_support import kinds, material, prepared

DOCUMENT = """# Changing a schedule

1. Go to **HR / Employees / Overview** and open the employee.
2. Click **Change schedule** and enter the **Effective date**.
3. Click **Save**.

Bulk changes are made in **HR / Tasks / Bulk change**. They need the role **HR officer**.
"""
DOCUMENT_NL = """Ga naar **Personeel / Medewerkers / Overzicht**. Open het tabblad **Dienstverband**.

Klik op **Rooster wijzigen**, vul de **Ingangsdatum** in en klik op **Opslaan**.
"""


def measure(answer, context=DOCUMENT, question="How do I do this?", language="en"):
    return ComponentsDefined().measure(material(answer, context, question, language))


@pytest.mark.parametrize(
    "answer",
    [
        "Click **Save**.",
        "Click *Save*.",
        "Click __save__ or **SAVE**.",
        "Click “Save”.",
        'Click "Save".',
        "Click 'Save'.",
        "Click `Save`.",
        "Click <b>Save</b>.",
        "Click the **Save button**.",
        "Click **Change   schedule**.",
        "Fill in the **Effective dates**.",
        "Go to **HR / Employees / Overview**.",
        "Go to **HR > Employees > Overview**.",
        "Go to **HR** > **Employees** > **Overview**.",
        "Go to **HR → Employees → Overview**.",
        "Go to **Employees / Overview**.",
        "Go to HR > Employees > Overview and open the employee.",
        "Click Save and wait.",
        "Click the Save button.",
    ],
)
def test_what_a_document_defines_is_defined_in_every_house_style(answer):
    value = measure(answer)
    assert value.value == 1
    assert value.evidence == ()


@pytest.mark.parametrize(
    ("answer", "name"),
    [
        ("Click **Undo change**.", "Undo change"),
        ("Click *Undo change*.", "Undo change"),
        ("Click “Undo change”.", "Undo change"),
        ("Click 'Undo change'.", "Undo change"),
        ('Click "Undo change".', "Undo change"),
        ("Click Undo and wait.", "Undo"),
        ("Click on the Undo button.", "Undo"),
        ("Open the Archive tab.", "Archive"),
        ("Go to **HR / Archive / Overview**.", "Archive"),
        ("Go to HR > Archive > Overview now.", "Archive"),
        ("- **Undo change**: takes it back", "Undo change"),
        ("The Undo button should be clicked.", "Undo"),
        ("Click the 'undo' button.", "undo"),
        ("Click on “undo”.", "undo"),
        ("The **undo** button should be clicked.", "undo"),
    ],
)
def test_a_component_that_no_text_holds_is_an_undefined_component(answer, name):
    value = measure(answer)
    assert value.value < 1
    assert ("undefined_component", name) in kinds(value)


@pytest.mark.parametrize(
    ("answer", "name"),
    [
        ("Klik op **Rooster verwijderen**.", "Rooster verwijderen"),
        ("Klik dan op de knop Verwijderen.", "Verwijderen"),
        ("Open het tabblad Archief.", "Archief"),
        ("Ga naar Personeel > Archief > Overzicht.", "Archief"),
        ("Open het tabblad Dienstverband, klik op *Rooster wijzigen* en op de knop **Opslaan**.", None),
    ],
)
def test_undefined_components_are_found_in_dutch(answer, name):
    expected = [("undefined_component", name)] if name else []
    assert kinds(measure(answer, DOCUMENT_NL, language="nl")) == expected


def test_a_part_at_the_wrong_place_of_its_path_is_misplaced():
    value = measure("Go to **HR / Tasks / Overview**.")
    assert kinds(value) == [("misplaced_component", "Overview")]
    assert value.value == pytest.approx(2 / 3)


def test_a_path_whose_parts_exist_but_never_in_this_order_is_undefined():
    path = "Overview / Employees / HR"
    assert kinds(measure(f"Go to **{path}**.")) == [("undefined_path", path)]


def test_a_path_may_be_what_a_document_says_in_the_words_of_one_paragraph():
    assert measure("Go to **Change schedule / Effective date**.").value == 1


MENUS = (
    "# The File Menu\n\nIt has:\n\n- **Print...**: prints.\n- **Close**: ends.\n\n# Tips\n\n- **Undo**: back."
)


@pytest.mark.parametrize(("item", "faults"), [("Print...", 0), ("Close", 0), ("Undo", 1)])
def test_components_below_the_heading_of_a_menu_are_in_that_menu(item, faults):
    assert len(measure(f"Choose **File / {item}** first.", MENUS).evidence) == faults


def test_a_long_heading_names_no_menu():
    page = MENUS.replace("The File Menu", "What the File menu is for")
    assert measure("Choose **File / Close**.", page).evidence


def test_the_order_of_a_path_is_not_judged_by_documents_without_any_markup():
    plain = "Open the staff menu, choose overview and then archive."
    assert measure("Go to **Staff / Archive**.", plain).value == 1


def test_the_question_defines_components_too():
    assert measure("Click **Undo**.", question="Can I click Undo?").value == 1


@pytest.mark.parametrize(
    "answer",
    [
        "You get **24 months**, **only** for **€ 5.00**.",
        "**Please note:** this is **not** possible.",
        "Click **twice** and select **all** lines, in the list of *all* files.",
        "**Important**",
        "**This cannot be undone at all.**",
        "1. **Open the archive**: look there.",
        "**What happens next**\nNothing.",
        "Yes, you can. **This is how:**\n1. Look.",
        "Press Enter or press **Ctrl**.",
        "The employee's and the user's files aren't here.",
        "5 > 3 and and/or 1 / 2",
        "Nothing is named here.",
        "",
    ],
)
def test_emphasis_titles_keys_and_running_text_name_no_component(answer):
    assert measure(answer).value is None


def test_a_name_the_context_defines_is_found_once_among_many():
    value = measure("Click **Save**, then **Undo** and **Save**, then **Redo**.")
    assert value.value == pytest.approx(0.5)


def test_without_any_context_a_named_component_is_undefined():
    assert measure("Click **Save**.", ()).value == 0


def test_evidence_is_bounded():
    value = measure(" ".join(f"**Name {n}a**" for n in range(500)))
    assert len(value.evidence) == 50
    assert value.value == 0


def test_a_path_longer_than_any_menu_is_cut_into_pieces_that_share_a_part():
    found = components(prepared(" > ".join(f"**Item {n}**" for n in range(30))))
    assert [len(component.parts) for component in found] == [12, 12, 8]
    assert [piece.parts[0] for piece in found[1:]] == [piece.parts[-1] for piece in found[:-1]]


def test_every_step_of_a_cut_path_is_judged():
    names = [f"Item {chr(97 + n)}x" for n in range(20)]
    path = "Go to " + " > ".join(f"**{name}**" for name in names)
    assert measure(path, path).value == 1
    for n in range(1, 19):
        swapped = [*names[:n], names[n + 1], names[n], *names[n + 2 :]]
        assert measure("Go to " + " > ".join(f"**{name}**" for name in swapped), path).value < 1
    repeated = " > ".join(f"**{name}**" for name in (names[11], names[11]))
    assert measure(repeated, path).value < 1


def test_an_undefined_component_is_evidence_however_many_faults_come_before_it():
    misplaced = "Go to **HR / Tasks / Overview**.\n" * 60
    assert ("undefined_component", "Undo") in kinds(measure(f"{misplaced}Click **Undo**."))


def test_more_distinct_names_than_any_answer_has_are_not_defined():
    names = " ".join(f"**Name {n}a**" for n in range(600))
    assert measure(names, names).value == pytest.approx(500 / 600)


@pytest.mark.parametrize(
    ("answer", "context"),
    [
        ("**A** > " * 25_000, DOCUMENT),
        ("Aa > " * 25_000, DOCUMENT),
        ("**Menu** > " * 5_000, "\n".join(f"**Menu** > **Item {n}**" for n in range(5_000))),
        ("Menu > Undo\n" * 5_000, "\n".join(f"**Menu** > **Item {n}**" for n in range(5_000))),
        (" ".join(f"**Item {n}**" for n in range(5_000)), "Item " * 20_000),
    ],
    ids=["marked path", "unmarked path", "many followers", "open-ended", "many names"],
)
def test_no_answer_takes_long(answer, context):
    """The work grows with the length of the texts, not with its square."""
    begin = time.process_time()
    measure(answer, context)
    assert time.process_time() - begin < 10
