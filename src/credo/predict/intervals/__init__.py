"""How sure an answer is: parameters drawn from their posterior."""
