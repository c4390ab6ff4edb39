"""One self-contained page: modules return frozen values, `templates` and `static` hold what it looks like."""
