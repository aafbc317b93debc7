"""helm and kubectl, as the tests of the chart have them."""

import platform
import subprocess

import pytest

from tests.support.kubernetes_tools import kubernetes_tool


@pytest.mark.parametrize(
    ("name", "arguments"), [("helm", ("version",)), ("kubectl", ("version", "--client"))]
)
def test_a_tool_of_kubernetes_runs(name, arguments):
    done = subprocess.run(
        [kubernetes_tool(name), *arguments], capture_output=True, text=True, timeout=30, check=False
    )
    assert (done.returncode, "v" in done.stdout) == (0, True), done.stderr


def test_where_the_tools_do_not_run_a_test_says_so_and_is_skipped(monkeypatch):
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    with pytest.raises(pytest.skip.Exception, match="runs on Linux on x86_64 alone"):
        kubernetes_tool("helm")
