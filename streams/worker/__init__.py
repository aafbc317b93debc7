"""The processes that run until they are stopped: the worker, the HTTP server, and the review desk."""
