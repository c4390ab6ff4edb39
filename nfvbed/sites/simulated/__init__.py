"""The site of simulated variants: nothing is deployed, the answer is known."""
