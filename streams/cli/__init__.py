"""The ``truthgate`` command: see ``truthgate --help``."""


def main() -> None:
    """Run the command line of this process and exit."""
    # Not at the top: the fork server of the scoring processes imports the script that imports this module.
    from streams.cli.entry import main as run  # noqa: PLC0415

    run()


__all__ = ["main"]
