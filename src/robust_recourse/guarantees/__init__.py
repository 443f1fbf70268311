"""What happens to a recourse when the model is replaced."""
