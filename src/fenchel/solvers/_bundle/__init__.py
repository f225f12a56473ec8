"""What bundle methods share: models made of planes."""
