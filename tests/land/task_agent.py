"""An agent behind Celery: the broker in memory, the workers forked, a few tasks each.

``LOG`` in the environment names the file that gets a line for each task that is done. The tasks are
sent once the worker is ready, from its own process: no other can reach a broker in its memory.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

import turnspan

TASKS = 20
turnspan.configure(service_name="tasks")
celery: Any = import_module("celery")  # it has no types
signals: Any = import_module("celery.signals")
app: Any = celery.Celery("tasks", broker="memory://")
app.conf.task_ignore_result = True


def answer(number: int) -> None:
    """One turn with one tool call."""
    name = f"task-{number}"
    with turnspan.agent("tasks"), turnspan.tool("look_up", call_id=name, arguments=name):
        pass
    log = os.open(os.environ["LOG"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(log, f"{name} {os.getpid()}\n".encode())
    os.close(log)


def send(**_: Any) -> None:
    """Send everything."""
    for number in range(TASKS):
        task.delay(number)


task: Any = app.task(name="answer")(answer)
signals.worker_ready.connect(send)
