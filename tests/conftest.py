"""Fixtures shared by every area; they live in ``tests/support``."""

pytest_plugins = (
    "support.cassette_table",
    "support.cluster",
    "support.databases",
    "support.demo_records",
    "support.deployment",
    "support.internal_errors",
    "support.mediawiki",
    "support.needs",
    "support.replay_table",
    "support.settings",
    "support.shared",
    "support.stores",
    "support.traces",
)
