"""Files on a local disk: the directory of one process, and the SQLite files of the stores in it."""
