"""Which verdicts were sent: a bounded file that outlives the sender, whatever ends it.

Before an answer is sent its verdict is claimed, and when it was sent that is noted; where it surely was not,
the claim is given back. A sender that is killed in between leaves a claim, and nobody can know whether its
answer went out. No store of one's own closes that gap; a receiver that drops the keys it has seen does.
"""

import sqlite3
import sys
import time
from enum import Enum


class State(Enum):
    """What is known of a verdict that is about to be sent."""

    NEW = "claimed just now"
    DONE = "sent before"
    UNSURE = "claimed before, by a sender that ended before it was done"


class Sent:
    """The file. Several senders share one, or are each given their own partitions (``INSTANCE``) and file."""

    def __init__(self, file):
        self.db = sqlite3.connect(file, isolation_level=None, timeout=30)
        self.db.executescript(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL"
        )  # on the disk when it returns
        self.db.execute(
            "CREATE TABLE IF NOT EXISTS sent (verdict_id TEXT PRIMARY KEY, until REAL, done INTEGER)"
        )

    def claim(self, verdict_id, until):
        """Claim a verdict; it is forgotten at ``until``, when its answer is too old to be sent anyway."""
        self.db.execute("DELETE FROM sent WHERE until < ?", (time.time(),))
        if self.db.execute("INSERT OR IGNORE INTO sent VALUES (?, ?, 0)", (verdict_id, until)).rowcount:
            return State.NEW
        (done,) = self.db.execute("SELECT done FROM sent WHERE verdict_id = ?", (verdict_id,)).fetchone()
        return State.DONE if done else State.UNSURE

    def done(self, verdict_id):
        """Note that its answer was sent, or never will be."""
        self.db.execute("UPDATE sent SET done = 1 WHERE verdict_id = ?", (verdict_id,))

    def give_back(self, verdict_id):
        """Give up the claim of one that was surely not sent, so that the next sender has it as new."""
        self.db.execute("DELETE FROM sent WHERE verdict_id = ?", (verdict_id,))


def opened(file):
    """Open the file; ends the program where it cannot be."""
    try:
        return Sent(file)
    except sqlite3.Error as error:
        sys.exit(f"STORE: {file}: {error}")
