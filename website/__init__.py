"""The documentation as a site: which pages it has, how they are read, and those that are made from the code.

``make docs`` builds it into ``site/``. Pages lie in ``docs/``, or in the room that they are about; each links
to the others as they lie in the repository, and the site moves the links along.
"""
