"""HTTP servers of a test: what answers each request, served on the loopback interface by a thread."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class QuietHandler(BaseHTTPRequestHandler):
    """Answers requests, and says nothing of them on standard error."""

    def read_body(self) -> bytes:
        """Return what was sent."""
        return self.rfile.read(int(self.headers["Content-Length"]))

    def respond(self, body: bytes = b"", status: int = 200, content_type: str = "application/json") -> None:
        """Send a whole response."""
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def served(handler: type[QuietHandler]) -> Iterator[str]:
    """Serve; gives the address, with a port that was free."""
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
