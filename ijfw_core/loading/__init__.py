"""Settings and plugins: found, checked, isolated, called."""
