"""The hand-over: verdicts become named jobs in a file that a person edits."""
