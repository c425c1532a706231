"""Whether everything lands, what is recorded and kept, who listens, and what the store holds."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import datetime, timezone

from turnspan import __version__
from turnspan.config import OPTIONS
from turnspan_clickhouse.receive.receiver_stats import read_receiver_stats
from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.read_only import Cancellation
from turnspan_console.checks.check import Check, guarded
from turnspan_console.checks.environment import settings_of
from turnspan_console.checks.spool import receiver_checks, spool_checks
from turnspan_console.checks.store import open_store_checks
from turnspan_console.values import raw
from turnspan_console.web.api.refusals import understood
from turnspan_console.web.endpoints import NoQuery, endpoint
from turnspan_records.keeping import KeepingError, Policy, retain
from turnspan_records.keeping.policy import TTL_TABLES
from turnspan_records.keeping.retention import Going
from turnspan_records.keeping.ttl import times_to_live
from turnspan_records.screens.inventory import TableSize, table_sizes

_RECORDING = (
    *("project", "capture_content", "capture_media", "content_limit_bytes", "mask_secrets"),
    *("content_on_spans", "content_on_events", "classify_intent"),
)
"""The settings that decide what is recorded."""


@dataclass(frozen=True, slots=True)
class SettingShown:
    """A setting by its variable; ``given`` says that the surroundings name it."""

    name: str
    value: str
    variable: str
    meaning: str
    given: bool


@dataclass(frozen=True, slots=True)
class ReceiverShown:
    """Who takes OTLP for this store's spool on this machine."""

    address: str
    """With both ports, where it takes gRPC as well."""
    since: datetime
    spans: int


@dataclass(frozen=True, slots=True)
class TimeToLive:
    """A rule by which the engine itself deletes rows."""

    table: str
    rule: str


@dataclass(frozen=True, slots=True)
class Retention:
    """What `turnspan retain` takes where no policy is named, and what the engine does by itself."""

    window_days: float
    content_days: float
    summary_texts: str
    tables: list[str]
    archive: str
    lives: list[TimeToLive]


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What is looked after beside the store, whether that can be asked or not."""

    version: str
    store: str
    """Its DSN, without a password."""
    spool: str
    checks: list[Check]
    recording: list[SettingShown]
    """Of an application that is started in the surroundings of this server."""
    receivers: list[ReceiverShown]


@dataclass(frozen=True, slots=True)
class SettingsAnswer:
    """What is looked after in the store."""

    checks: list[Check]
    retention: Retention
    tables: list[TableSize]
    """Those with rows; rows are counted before deduplication."""


@dataclass(frozen=True, slots=True)
class DryRunQuery:
    """How long turns stay that nobody flagged; the rest is as in `Retention`."""

    window_days: float


@dataclass(frozen=True, slots=True)
class DryRun:
    """What retention would take now, by table and reason; bytes are estimated."""

    rows: int
    going: list[Going]


@endpoint("GET", "/api/surroundings", "Whether all is well beside the store.", storeless=True)
def _surroundings(dsn: Dsn, _query: NoQuery) -> Surroundings:
    spool = dsn.spool
    return Surroundings(
        version=__version__,
        store=str(dsn),
        spool=str(spool),
        checks=[
            *guarded("spool", "checks", lambda: spool_checks(dsn)),
            *guarded("receiver", "checks", lambda: receiver_checks(spool)),
        ],
        recording=_recording(),
        receivers=[
            ReceiverShown(one.address, datetime.fromtimestamp(one.started, timezone.utc), one.spans)
            for one in read_receiver_stats(spool)
            if one.alive
        ],
    )


@endpoint("GET", "/api/settings", "Whether all is well.")
def _settings(store: Store, _query: NoQuery) -> SettingsAnswer:
    policy = Policy()
    return SettingsAnswer(
        checks=list(guarded("store", "checks", lambda: open_store_checks(store))),
        retention=Retention(
            policy.window_days,
            policy.content_days,
            policy.summary_texts,
            list(policy.tables),
            str(policy.folder),
            [
                TimeToLive(table, rule)
                for table, rule in times_to_live(store, TTL_TABLES).items()
                if rule
            ],
        ),
        tables=[one for one in table_sizes(store) if one.rows],
    )


def _recording() -> list[SettingShown]:
    settings = settings_of()
    return [
        SettingShown(
            one.field,
            _said(one.field, getattr(settings, one.field)),
            one.variable,
            one.help,
            bool(os.environ.get(one.variable, "").strip()),
        )
        for one in OPTIONS
        if one.field in _RECORDING
    ]


def _said(name: str, value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "no limit" if name == "content_limit_bytes" and not value else raw(value)


@endpoint(
    "POST", "/api/settings/retention", "What retention would take: nothing is deleted.", apart=True
)
def _dry_run(store: Store, query: DryRunQuery, _cancellation: Cancellation) -> DryRun:
    with understood(KeepingError):
        told = retain(store, Policy(window_days=query.window_days))
    return DryRun(told.rows, list(told.going))
