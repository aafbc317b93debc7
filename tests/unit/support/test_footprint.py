"""A figure that stops growing is told from one that goes on."""

import pytest

from tests.support.footprint import Footprint, as_table, growth, second_half


def _hour(main: list[float]) -> list[Footprint]:
    return [
        Footprint(number * 3600 / (len(main) - 1), number, one, (one, 2 * one), 4 * one)
        for number, one in enumerate(main)
    ]


def test_what_fills_in_the_first_half_does_not_grow_in_the_second():
    late = second_half(_hour([100, 120, 140, 140, 140]))
    assert [one.main for one in late] == [140, 140, 140]
    assert growth(late, (one.main for one in late)) == 0


def test_what_goes_on_growing_is_told_in_megabytes_a_minute():
    late = second_half(_hour([100, 130, 160, 190, 220]))
    assert growth(late, (one.main for one in late)) == pytest.approx(2)


def test_the_table_has_a_column_for_each_process():
    heading, *lines = as_table(_hour([100, 110]))
    assert heading.split() == ["minute", "verdicts", "main", "scoring", "1", "scoring", "2", "together"]
    assert lines[1].split() == ["60.0", "1", "110.0", "110.0", "220.0", "440.0"]
