"""Run the command as ``python -m streams.cli``, without the script on the path."""

from streams.cli import main

main()
