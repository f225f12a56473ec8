"""Named data sets: the registry, the search for local files, and downloads."""
