"""The Dutch spaCy pipeline that the package carries (``nl_truthgate``), and how it was trained."""
