"""What every floor stands on: names and states, refusals, values that stay, text, progress."""
