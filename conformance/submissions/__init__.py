"""A run as one file that somebody else can check: `tiebreak submit`."""
