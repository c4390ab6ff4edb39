"""The kinds of tests, a module each: what a file may say of one, how long it takes and what it builds on."""
