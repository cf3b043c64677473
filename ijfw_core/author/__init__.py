"""The author kit without pytest: sample data, probes of each hook, checks, templates."""
