"""How a table is divided so that the test rows differ from the training rows on purpose."""
