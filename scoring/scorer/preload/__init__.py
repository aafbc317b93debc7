"""Imported by a fork server, so that the processes it forks share what they would each load.

``models`` is what every text needs, ``pipelines`` the spaCy pipelines too.
"""
