"""Many members trained as one tensor program: the only room that knows the axis P."""
