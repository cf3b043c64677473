"""What an agent's hooks run: the hot path, the spool, the session worker."""
