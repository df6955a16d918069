"""The files that `tiebreak new-backend` starts a backend from."""
