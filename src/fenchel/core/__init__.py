"""What knows nothing of learning: compiled classes and kernels, registries, validation, errors, threads, files."""
