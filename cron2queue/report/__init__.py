"""Showing: an audit in the format that its reader needs."""
