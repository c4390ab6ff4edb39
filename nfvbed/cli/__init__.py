"""The command line: one module a verb, each of which parses, calls and prints."""
