"""What the integration tests share."""

from tests.support.java_start import quick_java

__all__ = ["quick_java"]
