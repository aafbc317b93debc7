"""A plugin that gives the items of pytest 9 the attribute `_nodeid` back, which mutmut 3.7 reads."""

import pytest


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        item._nodeid = item.nodeid
