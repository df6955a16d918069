"""The results that a case must have, and how a backend's outputs differ from them."""
