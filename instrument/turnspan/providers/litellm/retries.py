"""What LiteLLM's Router tries again: one call, as long as it is the same model of one provider."""

from __future__ import annotations

from typing import Final

from opentelemetry import context as otel_context

from turnspan.providers.litellm.names import Served
from turnspan.runtime.guard import guard
from turnspan.tracing import recording
from turnspan.tracing.model_call import ModelCall

_RETRIES: Final = otel_context.create_key("turnspan-litellm-retries")

_GROUP: Final = guard("litellm.retries")


class Retries:
    """The attempts of one call, ``with`` this: one that failed waits here for the next."""

    call: ModelCall | None = None
    served: Served | None = None
    error: BaseException | None = None
    _token: object | None = None

    def __enter__(self) -> None:
        with _GROUP:
            self.begin()

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        with _GROUP:
            self.end()

    def begin(self) -> None:
        """The Router tries, perhaps several times."""
        self._token = otel_context.attach(otel_context.set_value(_RETRIES, self))

    def again(self, served: Served) -> ModelCall | None:
        """The call that failed, if the next attempt is the same one; any other ends here."""
        call, self.call = self.call, None
        if call is not None and served == self.served:
            self.error = None
            call.tries += 1
            return call
        if call is not None:
            self._end(call)
        return None

    def hold(self, call: ModelCall, served: Served, error: BaseException) -> None:
        """An attempt failed."""
        self.call, self.served, self.error = call, served, error

    def end(self) -> None:
        """There will be no other attempt."""
        recording.detach(self._token)
        call, self.call = self.call, None
        if call is not None:
            self._end(call)

    def _end(self, call: ModelCall) -> None:
        error, self.error = self.error, None
        if error is not None:
            call.failed(error)


def current_retries() -> Retries | None:
    """What the Router is at, in this context."""
    found = otel_context.get_value(_RETRIES)
    return found if isinstance(found, Retries) else None
