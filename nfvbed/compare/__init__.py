"""From stored trials to summaries, verdicts and recommendations: pure functions, nothing is read or written here."""
