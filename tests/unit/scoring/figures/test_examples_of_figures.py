import doctest

import pytest

from scoring.figures import figure_checking, quantities


@pytest.mark.parametrize("module", [figure_checking, quantities])
def test_the_examples_of_a_docstring_hold(module):
    found = doctest.testmod(module)
    assert (found.failed, found.attempted > 0) == (0, True)
