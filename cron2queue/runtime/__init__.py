"""Running: producers, the job table and workers. Knows nothing of the toolkit above it."""
