"""What a case must give, and how what a backend gave differs from it."""
