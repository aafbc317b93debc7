"""What a deployment has and cannot be read is told with its reason."""

import pytest

from streams.cli.document_sources import TopicDocuments


@pytest.mark.parametrize(
    ("unreadable", "json_refused", "told"),
    [
        (0, 0, []),
        (4, 4, ["4 documents of the topic not read: JSON is not accepted (encoding.json_input is off)"]),
        (1, 0, ["1 document of the topic unreadable: see `truthgate dead-letters list`"]),
        (
            3,
            2,
            [
                "2 documents of the topic not read: JSON is not accepted (encoding.json_input is off)",
                "1 document of the topic unreadable: see `truthgate dead-letters list`",
            ],
        ),
    ],
)
def test_json_that_is_not_read_is_told_by_its_setting_and_the_rest_as_dead_letters(
    unreadable, json_refused, told, capsys
):
    classes = ["json_not_accepted"] * json_refused + ["key_mismatch"] * (unreadable - json_refused)
    TopicDocuments({}, {str(key).encode(): each for key, each in enumerate(classes)}).report_unreadable()
    assert capsys.readouterr().err.splitlines() == [f"truthgate: {line}" for line in told]
