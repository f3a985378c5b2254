"""The command line: flags to calls, and printing. Each command is a module that is imported when it is used."""
