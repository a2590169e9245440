"""What the budget policy is made of: rates of change, beliefs about them, what a visit is worth, and how
the collection as a whole sets the price of a visit."""
