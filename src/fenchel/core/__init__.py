"""Infrastructure that is independent of learning: compiled classes and kernels, registries, validation, errors, threads, files."""
