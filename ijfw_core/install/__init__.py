"""Connecting agents, and telling whether it works."""
