"""A flaky agent, its dataset, the fix, and the gate that stops the next regression."""
