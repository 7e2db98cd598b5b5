"""`python -m suffice` is the command line."""

from suffice.cli.entry import main

if __name__ == "__main__":
    main()
