"""Descriptions of real clients, one a file."""
