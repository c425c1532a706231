"""OTLP in: spans that other processes send over HTTP, landed as if they had been made here."""

from turnspan_clickhouse.receive.asgi import ReceiveApp
from turnspan_clickhouse.receive.landing_request import Taken
from turnspan_clickhouse.receive.receiver import Receiver
from turnspan_clickhouse.receive.settings import ReceiveSettings

__all__ = ["ReceiveApp", "ReceiveSettings", "Receiver", "Taken"]
