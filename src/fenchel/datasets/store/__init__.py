"""Data sets by name: what is known of them, where they are, and how they are fetched."""
