"""How an answer reaches its customer: a request to SEND_TO. Put your own way here."""

import json
import os
import sys
import time
from urllib.error import HTTPError
from urllib.request import Request, urlopen

# Asked for at the start: once an answer is claimed, it counts as one that may have been sent.
SEND_TO = os.environ.get("SEND_TO") or sys.exit("SEND_TO is not set: the address that takes the answers")
NEVER = (400, 413, 422)  # this answer will not be taken, now or later


def post(verdict):
    """Send one answer; a receiver that has seen its key drops it. Raises OSError where it is not taken.

    It may take half a minute longer than the ten seconds of each attempt, in which the partition waits.
    """
    body = json.dumps({"conversation_id": verdict["conversation_id"], "answer": verdict["answer"]}).encode()
    headers = {"content-type": "application/json", "idempotency-key": verdict["verdict_id"]}
    for wait in (1, 2, 4, 8, None):
        try:
            urlopen(Request(SEND_TO, body, headers), timeout=10).close()
            return
        except OSError as error:
            if isinstance(error, HTTPError) and error.code in NEVER:
                print(f"{verdict['answer_id']}: refused with {error.code}", file=sys.stderr, flush=True)
                return
            if wait is None:
                raise
            time.sleep(wait)
