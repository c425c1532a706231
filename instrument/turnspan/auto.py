"""No-code mode: ``OTEL_TRACES_EXPORTER=turnspan,otlp opentelemetry-instrument python app.py``.

``opentelemetry-instrument`` picks one distro and one configurator. Ours set the SDK up by the
standard variables and land the records through our own pipeline. Where another distro is picked
instead, the SDK loads the exporter by its entry point's name and everything lands all the same.
"""

from __future__ import annotations

import os
from typing import Any, cast

from opentelemetry.instrumentation.distro import BaseDistro  # type: ignore[attr-defined]

from turnspan.config import logger
from turnspan.patching.third_party import disabled, distribution_of
from turnspan.runtime.otel_private import configure_sdk

_EXPORTERS = "OTEL_TRACES_EXPORTER"


class TurnspanDistro(BaseDistro):  # type: ignore[misc]
    """Only defaults: records where no exporter was named, ids from the system's random source.

    Of several instrumentations of one GenAI library it loads one, as ``turnspan.instrument()``.
    """

    _left_off: dict[str, str] | None = None

    def load_instrumentor(self, entry_point: Any, **kwargs: Any) -> None:
        """Load an instrumentation, unless another one records the same calls."""
        name = distribution_of(entry_point)
        if self._left_off is None:
            # With the instrumentors, when they are asked for.
            from turnspan.instrumentation import plan

            self._left_off = {
                one.by: one.detail for one in plan(disabled()) if one.detail.endswith("already")
            }
        reason = self._left_off.get(name)
        if reason is None:
            load = cast("Any", super()).load_instrumentor
            load(entry_point, **kwargs)
        else:
            logger.info("%s stays off: %s.", name, reason)

    def _configure(self, **kwargs: Any) -> None:
        os.environ.setdefault(_EXPORTERS, "turnspan")
        os.environ.setdefault("OTEL_PYTHON_ID_GENERATOR", "turnspan")


class TurnspanConfigurator:
    """The SDK's own configuration for resource, sampler, metrics and logs; our pipeline for spans.

    Never stops the application from starting.
    """

    def configure(self, **kwargs: Any) -> None:
        """Do it; the arguments are what ``opentelemetry-instrument`` says of itself."""
        from opentelemetry._logs import get_logger_provider
        from opentelemetry.metrics import get_meter_provider

        # Only where the environment switches recording on.
        from turnspan.lifecycle import configure
        from turnspan.pipeline.backends import named
        from turnspan.pipeline.other_backends import bound_the_rest

        text = os.environ.get(_EXPORTERS, "turnspan")
        try:
            os.environ[_EXPORTERS] = "none"
            configure_sdk(kwargs)
            bound_the_rest(get_meter_provider(), get_logger_provider())
        except Exception as error:  # noqa: BLE001  the application must start
            logger.warning(
                "OpenTelemetry refuses the environment variables (%s): only spans are recorded. "
                "See `turnspan doctor`.",
                str(error) or type(error).__name__,
            )
        finally:
            os.environ[_EXPORTERS] = text
        try:
            configure(exporters=named(text))
        except Exception:  # noqa: BLE001  as above
            logger.exception("Turnspan could not be configured; the application runs untraced.")
