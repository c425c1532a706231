"""Read the requests that SDKs send out of their sources, which are parsed and never imported.

The sources are those of this environment, the others from .tools/sdks, which `make tools` fills by
.ci/sdks.txt. Each generator of SDKs writes its requests in a form of its own: a small reader each.
"""

from __future__ import annotations

import ast
import gzip
import json
import re
import sysconfig
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Final

from sdk_readers import (
    Reader,
    fern,
    google,
    hub,
    keyword,
    ollama,
    speakeasy,
    stainless,
    streams,
    word,
)

ROOT: Final = Path(__file__).resolve().parent.parent
_SOURCES: Final = (ROOT / ".tools" / "sdks", Path(sysconfig.get_path("purelib")))

COSTING: Final = ("POST", "PUT", "PATCH", "WEBSOCKET")
"""What may make a model work; the table has no others: to get and to delete costs nothing."""
_ELSEWHERE: Final = {"tests", "cli", "inference", "_http.py"}
"""What is no resource, or is read otherwise."""

_SENDS: Final = re.compile(
    r"\b_(?:get|post|put|patch|delete|get_api_list|request|build_request)\w*\(|httpx_client|_client\."
    r"|get_session|http_backoff|paginate"
)
"""What a file has that sends anything: to parse the others takes most of the time."""

_TWO_IDS: Final = dict.fromkeys(("repo_id", "bucket_id", "src_repo_id", "from_id"), "{}/{}")
"""Ids with a slash of their own, which the SDK does not escape."""

_PREFIX: Final = re.compile(
    r"\A(?:/(?:v\d+[a-z0-9]*|\{\w*api_?version\}|openai|upload|compatibility|inference(?=/v)"
    r"|api(?=/v\d|/paas)|paas))+(?=[/:])"
)
"""Versions, and where providers put the API of another."""
_RENAMED: Final = {f"/{verb}": f"/{{}}:{verb}" for verb in ("rawPredict", "streamRawPredict")}
"""What a hook of the SDK (mistralai.gcp) makes of a path."""


@dataclass(frozen=True, order=True)
class Request:
    """A request that a method of an SDK sends."""

    sdk: str
    method: str
    """The method below its client, as ``images.generate``."""
    verb: str
    path: str
    """Without the version of the API; ids are ``{}``."""
    asynchronous: bool
    streams: bool
    """Whether the answer can come in pieces."""

    @property
    def pattern(self) -> str:
        return f"{self.verb} {self.path}"


_Async = ast.AsyncFunctionDef
Function = ast.FunctionDef | _Async


# -- the values of expressions


class Scope:
    """What names stand for in a function: the values assigned to each in it or in its module."""

    def __init__(self, nodes: Iterable[ast.AST]) -> None:
        self._values: dict[str, list[ast.expr]] = {}
        for node in nodes:
            if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                for target in targets:
                    if isinstance(target, ast.Name):
                        self._values.setdefault(target.id, []).append(node.value)

    def texts(self, node: ast.expr | None, seen: frozenset[str] = frozenset()) -> set[str]:
        """What a text may be, ``{}`` for what is not known."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes):
            return {node.value.decode() if isinstance(node.value, bytes) else node.value}
        if isinstance(node, ast.FormattedValue):
            found = self.texts(node.value, seen)
            return {
                _TWO_IDS.get(ast.unparse(node.value), "{}") if text == "{}" else text
                for text in found
            }
        if isinstance(node, ast.JoinedStr):
            parts = [self.texts(part, seen) for part in node.values]
            return {"".join(words) for words in product(*parts)}
        if isinstance(node, ast.BinOp):
            sides = self.texts(node.left, seen), self.texts(node.right, seen)
            return {left + right for left, right in product(*sides)}
        if isinstance(node, ast.IfExp):
            return self.texts(node.body, seen) | self.texts(node.orelse, seen)
        if isinstance(node, ast.Name) and node.id in seen:
            return set()  # path = f"{path}?...": what it was before is read by itself
        if isinstance(node, ast.Name) and node.id in self._values:
            values = (self.texts(value, seen | {node.id}) for value in self._values[node.id])
            return set().union(*values) or {"{}"}
        if isinstance(node, ast.Call):
            function = node.func
            if isinstance(function, ast.Name) and node.args:  # path_template(...) and the like
                return self.texts(node.args[0], seen)
            if isinstance(function, ast.Attribute):  # "...".format_map(...)
                return {
                    text.replace("{{", "{").replace("}}", "}")
                    for text in self.texts(function.value, seen)
                }
        return {"{}"}


def path_of(text: str) -> str:
    """The pattern of a path, as the table has it."""
    text = re.sub(r"\A(?:https?://[^/]+|\{\w*\}(?=/))", "", re.split(r"[?#]", text)[0])
    text = _PREFIX.sub("", "/" + text.lstrip("/"))
    text = re.sub(r"\{[^{}]*\}+", "{}", text).replace("{}{}", "{}").rstrip("/") or "/"
    return _RENAMED.get(text, text)


@dataclass(frozen=True)
class Sdk:
    """Where the sources of an SDK lie, and how its requests are read."""

    name: str
    folder: str
    reader: Reader
    parts: tuple[str, ...] = ("",)
    """Folders and files below it that hold resources."""

    def requests(self) -> Iterator[Request]:
        """What its methods send, as often as they send it."""
        for path, resource in self.files():
            text = path.read_text("utf-8")
            tree, lines = ast.parse(text), text.split("\n")
            for owner, function in _functions(tree):
                # To walk through a function that sends nothing takes most of the time.
                if _SENDS.search("\n".join(lines[function.lineno - 1 : function.end_lineno])):
                    yield from self._sent(tree, owner, function, resource)

    def files(self) -> Iterator[tuple[Path, str]]:
        """The sources that send anything, each with the name of its resource."""
        folder = source(self.folder)
        for part in self.parts:
            place = folder / part
            for path in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
                resource = path.relative_to(place if place.is_dir() else place.parent)
                text = path.read_text("utf-8")
                if _SENDS.search(text) and not _ELSEWHERE.intersection(resource.parts):
                    yield path, _dotted(resource)

    def _sent(
        self, tree: ast.Module, owner: str, function: Function, resource: str
    ) -> Iterator[Request]:
        nodes = list(ast.walk(function))
        calls = (node for node in nodes if isinstance(node, ast.Call))
        several = [sent for call in calls if (sent := self.reader(call))]
        scope = Scope([*tree.body, *nodes] if several else ())
        name = function.name.removesuffix("_async").strip("_")
        method = ".".join(filter(None, (resource, name)))
        for sent in several:
            for text in sorted(scope.texts(sent.path)):
                piecewise = sent.streams or "#stream" in text
                path, verb = path_of(text), sent.verb.upper()
                for waits in _ways(owner, function):
                    yield Request(self.name, method, verb, path, waits, piecewise)


def _dotted(path: Path) -> str:
    """The name of a resource by its file: ``chat/completions/completions.py``."""
    parts = [part.strip("_") for part in path.with_suffix("").parts]
    words = [word for word, before in zip(parts, ["", *parts], strict=False) if word != before]
    return ".".join(
        word
        for word in words
        if word not in ("client", "raw_client", "raw_base_client", "init", "sdk")
    )


def _functions(tree: ast.Module) -> Iterator[tuple[str, Function]]:
    """The functions of a module and of its classes, each with the name of its class."""
    for owner in (tree, *(node for node in tree.body if isinstance(node, ast.ClassDef))):
        for node in owner.body:
            if isinstance(node, Function):
                yield getattr(owner, "name", ""), node


def _ways(owner: str, function: Function) -> tuple[bool, ...]:
    """Whether it is asynchronous; both for a function that both kinds of methods call."""
    if not owner and not isinstance(function, _Async):
        return (False, True)
    named = owner.startswith("Async") or function.name.endswith("_async")
    return (named or isinstance(function, _Async),)


def source(folder: str) -> Path:
    """The folder of an SDK's sources."""
    for root in _SOURCES:
        if (root / folder).is_dir():
            return root / folder
    raise SystemExit(f"The sources of {folder} are not there: run `make tools`.")


@dataclass(frozen=True)
class Sockets:
    """The WebSockets that an SDK opens, whose addresses it makes in variables of these names."""

    name: str
    folder: str
    parts: tuple[str, ...]
    variables: tuple[str, ...] = ()

    def requests(self) -> Iterator[Request]:
        for part in self.parts:
            place = source(self.folder) / part
            for path in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
                resource = _dotted(
                    path.relative_to(place if place.is_dir() else source(self.folder))
                )
                method = resource.removeprefix("lib.").removesuffix(".connection") + ".connect"
                text = path.read_text("utf-8")
                if not any(name in text for name in (*self.variables, "generate_url")):
                    continue
                functions = list(_functions(ast.parse(text)))
                # A class makes its address in a plain function, and waits in others.
                waiting = {owner for owner, each in functions if isinstance(each, _Async)}
                for owner, function in functions:
                    for text in sorted(self._texts(function)):
                        pattern = re.sub(r"(?<=[a-z])(\{\})+\Z", "", path_of(text))
                        for waits in (owner in waiting,) if owner else (False, True):
                            yield Request(self.name, method, "WEBSOCKET", pattern, waits, True)

    def _texts(self, function: ast.AST) -> set[str]:
        scope, texts = Scope(ast.walk(function)), set[str]()
        for node in ast.walk(function):
            if (
                isinstance(node, ast.Assign)
                and getattr(node.targets[0], "id", "") in self.variables
            ):
                texts |= scope.texts(node.value)
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "generate_url":
                texts |= scope.texts(node.args[1])
        return {text for text in texts if re.search(r"/[a-z]", text)}


@dataclass(frozen=True)
class HubInference:
    """The methods of ``InferenceClient``: each asks the provider of the model for a task."""

    name: str = "huggingface_hub"

    def requests(self) -> Iterator[Request]:
        folder = source("huggingface_hub") / "inference"
        routes = _routes_by_task(folder / "_providers")
        for path in (folder / "_client.py", folder / "_generated" / "_async_client.py"):
            for owner, function in _functions(ast.parse(path.read_text("utf-8"))):
                calls = [node for node in ast.walk(function) if isinstance(node, ast.Call)]
                posts = (call for call in calls if getattr(call.func, "attr", "") == "_inner_post")
                piecewise, waits = any(map(streams, posts)), owner.startswith("Async")
                method = f"inference.{function.name}"
                for task in {word(keyword(call, "task")) for call in calls}:
                    for text in sorted(routes.get(task, ())):
                        yield Request(self.name, method, "POST", path_of(text), waits, piecewise)


def _routes_by_task(folder: Path) -> dict[str, set[str]]:
    """The paths to which providers' helpers send each task."""
    trees = [ast.parse(path.read_text("utf-8")) for path in folder.glob("*.py")]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    classes = {node.name: node for node in nodes if isinstance(node, ast.ClassDef)}
    routes: dict[str, set[str]] = {}
    for node in nodes:
        for key, value in (
            zip(node.keys, node.values, strict=True) if isinstance(node, ast.Dict) else ()
        ):
            helper = getattr(getattr(value, "func", None), "id", "")
            if helper in classes:
                routes.setdefault(word(key), set()).update(_routes(classes, helper, word(key)))
    return routes


def _routes(classes: dict[str, ast.ClassDef], name: str, task: str) -> set[str]:
    """The paths to which a helper of a provider sends a task."""
    for node in classes[name].body:
        if isinstance(node, ast.FunctionDef) and node.name in ("_prepare_route", "_prepare_url"):
            if "_build_chat_completion_url" in ast.unparse(node):
                return {"/chat/completions"}
            scope = Scope(ast.walk(node))
            return set().union(*(scope.texts(value) for value in _returned(node, task)))
    bases = [
        base.id for base in classes[name].bases if isinstance(base, ast.Name) and base.id in classes
    ]
    return _routes(classes, bases[0], task)


def _returned(node: ast.AST, task: str) -> Iterator[ast.expr | None]:
    """What a helper returns for a task, where it asks for ``self.task``."""
    parts: list[ast.AST] = [node]
    for inner in ast.walk(node):
        if isinstance(inner, ast.Match):
            parts = [case for case in inner.cases if repr(task) in ast.unparse(case.pattern)]
    for part in parts:
        for inner in ast.walk(part):
            value = inner.value if isinstance(inner, ast.Return) else None
            if isinstance(value, ast.IfExp) and "self.task" in ast.unparse(value.test):
                yield value.body if repr(task) in ast.unparse(value.test) else value.orelse
            elif value is not None:
                yield value


@dataclass(frozen=True)
class Botocore:
    """The operations of AWS services, by their models."""

    services: tuple[str, ...]
    whole: tuple[str, ...] = ()
    """Services whose paths have no version before them, and would be mistaken for others' ends."""
    name: str = "boto3"

    def requests(self) -> Iterator[Request]:
        for service in self.services:
            (model,) = (source("botocore") / "data" / service).glob("*/service-2.json.gz")
            read = json.loads(gzip.decompress(model.read_bytes()))
            for name, operation in read["operations"].items():
                method = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
                members = (
                    read["shapes"]
                    .get(operation.get("output", {}).get("shape"), {})
                    .get("members", {})
                )
                streams = any(
                    read["shapes"][each["shape"]].get("eventstream") for each in members.values()
                )
                path = ("^" if service in self.whole else "") + path_of(
                    operation["http"]["requestUri"]
                )
                yield Request(
                    self.name,
                    f"{service}.{method}",
                    operation["http"]["method"],
                    path,
                    False,
                    streams,
                )


SDKS: Final = (
    Sdk("openai", "openai", stainless, ("resources",)),
    Sockets("openai", "openai", ("resources",), ("merge_raw_path",)),
    Sdk("anthropic", "anthropic", stainless, ("resources",)),
    Sdk("google-genai", "google/genai", google),
    Sdk("google-genai", "google/genai/_gaos", speakeasy),
    Sockets("google-genai", "google/genai", ("live.py", "live_music.py"), ("uri",)),
    Sdk("mistralai", "mistralai", speakeasy, ("client", "azure/client", "gcp/client")),
    Sockets("mistralai", "mistralai/extra", ("realtime/speech.py", "realtime/transcription.py")),
    Sdk("cohere", "cohere", fern),
    Sdk("groq", "groq", stainless, ("resources",)),
    Sdk("ollama", "ollama", ollama),
    Sdk("together", "together", stainless, ("resources", "lib/resources")),
    Sockets("together", "together", ("lib/realtime/_connection.py",), ("path",)),
    Sdk("huggingface_hub", "huggingface_hub", hub),
    HubInference(),
    Botocore(("bedrock-runtime", "bedrock-agent-runtime"), whole=("bedrock-agent-runtime",)),
)
