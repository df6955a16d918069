"""Which wrong arithmetics a set of cases stops, and the fewest cases that stop all of them."""
