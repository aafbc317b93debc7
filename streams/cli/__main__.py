"""Run the command as ``python -m streams.cli``, where no script is on the path."""

from streams.cli import main

main()
