"""The site of simulated variants: nothing is deployed, and the answer is known."""
