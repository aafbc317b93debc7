"""The worker process: its parts, the Faust application, the probe, the watchdog."""
