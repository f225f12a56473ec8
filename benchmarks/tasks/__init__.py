"""Tasks with structured outputs, from their files to a score on data held out."""
