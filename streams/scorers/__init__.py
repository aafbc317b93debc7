"""The pool of scoring processes, which keeps scoring off the event loop."""
