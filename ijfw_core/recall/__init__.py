"""Reading memory: search, facts, prelude, other projects."""
