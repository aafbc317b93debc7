"""What the tests of the image share."""

from tests.support.image import image

__all__ = ["image"]
