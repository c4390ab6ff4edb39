"""From stored trials to summaries and verdicts: pure functions over records, nothing is read or written here."""
