"""The ``truthgate`` command: see ``truthgate --help``."""

import gc


def main() -> None:
    """Run the command line of this process and exit."""
    # Nothing that is imported is garbage; to look for some takes a sixth of the time.
    gc.disable()
    # Not at the top: the fork server of the scoring processes imports the script that imports this module.
    from streams.cli.entry import main as run  # noqa: PLC0415

    gc.freeze()
    gc.enable()
    run()


__all__ = ["main"]
