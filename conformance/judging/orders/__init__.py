"""What a document's formula can give by correctly rounded steps in another order than it is written in."""
