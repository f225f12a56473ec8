"""Parts of dual ascent that its solvers share."""
