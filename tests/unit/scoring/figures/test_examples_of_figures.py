import doctest

import pytest

from scoring.figures import checking, numbers
from scoring.figures import clause as rounding


@pytest.mark.parametrize("module", [checking, rounding, numbers])
def test_the_examples_of_a_docstring_hold(module):
    found = doctest.testmod(module)
    assert (found.failed, found.attempted > 0) == (0, True)
