"""The version that every assessment and verdict carries."""

# A test compares it with pyproject.toml; the package's metadata is absent when run from source.
SCORER_VERSION = "0.1.0"
