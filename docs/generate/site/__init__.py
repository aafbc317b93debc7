"""The documentation as a site: which pages it has, and how they are read.

``make docs`` builds it. Pages lie in ``docs/``, or in the room that they are about; each links to the others
as they lie in the repository, and the site moves the links along.
"""
