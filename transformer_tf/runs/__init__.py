"""A run: its folder, data, plan, state and reports, and the trainer that writes them."""
