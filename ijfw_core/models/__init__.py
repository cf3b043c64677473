"""Asking a model: whether it may be asked, what it cost, and what still waits for its answer."""
