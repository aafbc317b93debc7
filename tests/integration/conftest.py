"""What the integration tests share."""

from tests.support.figures import pytest_terminal_summary, tell
from tests.support.java_start import quick_java

__all__ = ["pytest_terminal_summary", "quick_java", "tell"]
