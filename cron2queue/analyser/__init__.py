"""Judging: rules ask crontabs and their evidence questions; verdicts say what to do. Pure."""
