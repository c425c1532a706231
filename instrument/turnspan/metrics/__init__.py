"""Metrics: what is measured of each call, agent, tool and workflow, and how it is recorded."""
