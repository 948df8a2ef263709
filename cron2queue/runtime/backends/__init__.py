"""One module for each database: how it performs the job table's verbs."""
