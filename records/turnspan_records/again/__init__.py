"""Agents that run again: reruns, experiments over cases, and the gate between versions."""
