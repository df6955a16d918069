"""Cases through backends: recorded, judged and explained."""
