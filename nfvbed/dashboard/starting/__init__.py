"""Pages of jobs: what there is to choose, the plan that a choice means, and the command that it starts."""
