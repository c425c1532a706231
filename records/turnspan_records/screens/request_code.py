"""A recorded request as a command and as a program that send it again.

A recorded text never becomes code: the shell gets one quoted word or a here-document of JSON, in
ASCII, and Python a literal. Neither names a recorded host, which a pasted key would be sent to, and
neither holds a key.
"""

from __future__ import annotations

import json
import pprint
import shlex
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from turnspan_records.screens.request import ExactRequest

_LONGEST_WORD: Final = 100_000
"""Linux takes no word of a command line that is longer than 131,072 bytes."""
_LONGEST_PRETTY: Final = 200_000
_END: Final = "END_OF_REQUEST"


class NoCodeError(ValueError):
    """A request of an API that no code is known for."""


@dataclass(frozen=True, slots=True)
class _Api:
    host: str
    key: str
    base: str
    headers: tuple[str, ...]
    client: str
    path: str
    method: str
    named: tuple[str, ...]

    @property
    def path_from_base(self) -> str:
        """OpenAI's base holds the version, Anthropic's does not: as their SDKs read them."""
        return self.path.removeprefix("/v1") if self.base == "OPENAI_BASE_URL" else self.path


_OPENAI: Final = (
    *("api.openai.com", "OPENAI_API_KEY", "OPENAI_BASE_URL"),
    ("Authorization: Bearer $OPENAI_API_KEY",),
    "from openai import OpenAI\n\nclient = OpenAI()",
)
_APIS: Final[Mapping[str, _Api]] = {
    "openai.chat": _Api(
        *_OPENAI, "/v1/chat/completions", "chat.completions.create", ("model", "messages")
    ),
    "openai.responses": _Api(*_OPENAI, "/v1/responses", "responses.create", ("model", "input")),
    "anthropic.messages": _Api(
        *("api.anthropic.com", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"),
        ("x-api-key: $ANTHROPIC_API_KEY", "anthropic-version: 2023-06-01"),
        "from anthropic import Anthropic\n\nclient = Anthropic()",
        *("/v1/messages", "messages.create", ("model", "max_tokens", "messages")),
    ),
}


def as_curl(request: ExactRequest) -> str:
    """The request as a command for a POSIX shell. The key is read from the environment; so is the
    address, where the call went to another host than the provider's own.

    Raises:
        NoCodeError: there is none for this API.
    """
    api = _api(request)
    url = f"https://{api.host}{api.path}"
    if _elsewhere(request, api):
        url = f'"${api.base}{api.path_from_base}"'
    lines = [f"curl {url}", "-H 'Content-Type: application/json'"]
    lines += [f'-H "{header}"' for header in api.headers]
    text = json.dumps(request.body, indent=2)  # ASCII: nothing that a terminal would obey
    if len(text) <= _LONGEST_WORD:
        return _note(request) + " \\\n  ".join([*lines, f"-d {shlex.quote(text)}"]) + "\n"
    lines.append(f"--data-binary @- <<'{_END}'")
    return _note(request) + " \\\n  ".join(lines) + f"\n{json.dumps(request.body)}\n{_END}\n"


def as_python(request: ExactRequest) -> str:
    """The request as a program that uses the provider's SDK; it reads the key as that does.

    Raises:
        NoCodeError: there is none for this API.
    """
    api = _api(request)
    body = dict(request.body)
    reads = api.key + (f" and {api.base}" if _elsewhere(request, api) else "")
    lines = [f"{_note(request)}{api.client}  # reads {reads}", f"request = {_literal(body)}"]
    lines.append("\n".join(_sending(api, body)))
    streams = body.get("stream") is True
    lines.append("for event in response:\n    print(event)" if streams else "print(response)")
    return "\n".join(lines) + "\n"


def _sending(api: _Api, body: Mapping[str, Any]) -> list[str]:
    """The lines that call the SDK."""
    if not all(name in body for name in api.named):
        # The SDK's own method would refuse what was sent without it.
        return [f'response = client.post("{api.path_from_base}", body=request, cast_to=object)']
    given = [name for name in (*api.named, "stream") if name in body]
    arguments = [f'    {name}=request["{name}"],' for name in given]
    rest = [ascii(name) for name in body if name not in given]
    if rest:
        # What an SDK of another version has no argument for is sent all the same.
        arguments.append(f"    extra_body={{key: request[key] for key in ({', '.join(rest)},)}},")
    return [f"response = client.{api.method}(", *arguments, ")"]


def _api(request: ExactRequest) -> _Api:
    found = _APIS.get(request.dialect)
    if found is None:
        raise NoCodeError(
            f"Requests of {request.dialect or 'an unknown API'} cannot be written as a command: "
            f"only those of {', '.join(_APIS)}. `turnspan show ID --request` prints the messages."
        )
    return found


def _elsewhere(request: ExactRequest, api: _Api) -> bool:
    return bool(request.server) and request.server != api.host


def _note(request: ExactRequest) -> str:
    if request.exact:
        return ""
    counts = Counter(one.kind for one in request.altered)
    said = ", ".join(f"{number} {kind}" for kind, number in counts.items())
    return f"# Not as it was sent: {said}. Those parts have to be put back first.\n"


def _literal(value: Any) -> str:
    text = repr(value)
    if len(text) <= _LONGEST_PRETTY:  # pprint is slow
        text = pprint.pformat(value, width=96, sort_dicts=False)
    # Characters that are no ASCII stand in literals only, where these are their escapes.
    return text.encode("ascii", "backslashreplace").decode()
