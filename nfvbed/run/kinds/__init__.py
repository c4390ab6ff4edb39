"""How each kind of test is executed, a module each."""
