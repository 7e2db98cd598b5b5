"""The command line: everything without writing Python."""
