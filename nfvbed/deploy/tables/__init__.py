"""The tables that data planes forward by: filled for a test, and watched while they learn."""
