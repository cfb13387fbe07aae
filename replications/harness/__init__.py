"""What all replications share: the cases, processes that stop, tools that may be missing, and records."""
