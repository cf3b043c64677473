"""Where memory lies, and the only way to change it."""
