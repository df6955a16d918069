"""Cases that leave for a device elsewhere, and the outputs that come back."""
