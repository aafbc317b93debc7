"""The Helm chart (``truthgate/``), and what is generated for it."""
