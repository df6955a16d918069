"""A folder of runs as a static site: the matrix, a page for each cause, library and run, search, badges and a feed."""
