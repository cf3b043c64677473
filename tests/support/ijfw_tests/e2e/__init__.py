"""Real agent clients in a throw-away HOME, with a scripted model and without network."""
