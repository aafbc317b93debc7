import doctest

import pytest

from scoring.figures import checking, rounding
from scoring.figures.reading import numbers


@pytest.mark.parametrize("module", [checking, rounding, numbers])
def test_the_examples_of_a_docstring_hold(module):
    found = doctest.testmod(module)
    assert (found.failed, found.attempted > 0) == (0, True)
