"""Telling people and programs: hooks on dead jobs, queues over their limit and missed ticks, and how they are delivered."""
