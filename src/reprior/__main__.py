"""`python -m reprior` is the command `reprior`."""

from reprior.doors.cli import main

main()
