"""How an answer reaches its customer: a request to SEND_TO. Put your own way here."""

import json
import os
import re
import sys
import time
from contextlib import suppress
from http.client import HTTPException
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

NEVER = (400, 413, 422)  # this answer will not be taken, now or later
NOT_NOW = (401, 403, 404, 405, 429, 503)  # it was not taken; of any other status that is not sure


class NotSent(Exception):
    """No receiver said that it took the answer; ``surely``: and none can have taken it."""

    def __init__(self, why, surely):
        super().__init__(why)
        self.surely = surely


class Stay(HTTPRedirectHandler):
    """Makes a redirect an error: followed, it would be a request without the answer."""

    def redirect_request(self, *_):
        return None


def checked(address):
    """Return an address that an answer can be posted to; any other ends the program before one is claimed."""
    with suppress(ValueError):  # a port that is no number
        parts = urlsplit(address)
        if re.fullmatch("https?://[!-~]+", address) and parts.hostname and parts.port != 0:
            return address
    sys.exit("SEND_TO should be the address that takes the answers, such as http://localhost:8080/answers")


SEND_TO = checked(os.environ.get("SEND_TO", ""))
OPEN = build_opener(Stay).open


def post(message):
    """Send one answer; a receiver that has seen its key drops it. Raises NotSent.

    It may take half a minute longer than the ten seconds of each attempt, in which the partition waits.
    """
    body = json.dumps({"conversation_id": message["conversation_id"], "answer": message["answer"]}).encode()
    headers = {"content-type": "application/json", "idempotency-key": message["verdict_id"]}
    surely = True
    for wait in (1, 2, 4, 8, None):
        try:
            OPEN(Request(SEND_TO, body, headers), timeout=10).close()
            return
        except (OSError, HTTPException) as error:
            status = None
            if isinstance(error, HTTPError):
                status = error.code
                error.close()
            if status in NEVER:
                print(f"{message['answer_id']}: refused with {status}", file=sys.stderr, flush=True)
                return
            # A bare URLError: no connection, or it ended before the whole request was written.
            surely = surely and (status in NOT_NOW or type(error) is URLError)
            if wait is None:
                raise NotSent(error, surely) from error
            time.sleep(wait)
