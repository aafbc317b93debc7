"""A plugin that gives the items of pytest 9 the attribute `_nodeid` back, which mutmut 3.7 reads.

pytest does not find a test again by an id with a backslash: such a test is run with all of its parameters.
"""

import mutmut
import pytest


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        item._nodeid = item.nodeid.partition("[")[0] if "\\" in item.nodeid else item.nodeid


def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> None:
    if item._nodeid != item.nodeid:
        mutmut.duration_by_test[item._nodeid] += call.duration
