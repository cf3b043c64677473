"""From a session's events to memories."""
