"""The command line: a module for each command, which parses, calls and prints; and the options that several share."""
