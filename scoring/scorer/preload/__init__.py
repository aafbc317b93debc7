"""Modules for a fork server to import, so that forked processes share their memory.

``models`` is what every text needs; ``pipelines`` adds the spaCy pipelines.
"""
