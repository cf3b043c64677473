"""The dream: consolidation at night, pass by pass, each one a run that can be undone."""
