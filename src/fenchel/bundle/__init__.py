"""Models made of planes: what bundle methods share."""
