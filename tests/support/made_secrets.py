"""Secrets made at random from the rules' patterns, and what texts have around one."""

from __future__ import annotations

import base64
import importlib
import json
import random
import re
import string
import sys
import urllib.parse
from collections.abc import Callable, Iterator
from typing import Any, Final
from xml.sax.saxutils import quoteattr

from turnspan.redaction.secret_shapes import NAMED, SHAPES

_op: Final[Any] = importlib.import_module(
    "sre_constants" if sys.version_info < (3, 11) else "re._constants"
)
_parser: Final[Any] = importlib.import_module(
    "sre_parse" if sys.version_info < (3, 11) else "re._parser"
)
_WORD: Final = string.ascii_letters + string.digits + "_"
_LETTERS: Final = string.ascii_letters + string.digits


class Maker:
    """Makes texts that a pattern matches."""

    def __init__(self, pattern: str, chance: random.Random, ignore_case: bool = False) -> None:
        self._chance = chance
        self._items = _parser.parse(pattern)
        self._fold = ignore_case

    def make(self) -> str:
        """One of them."""
        return self._all(self._items, self._fold)

    def _all(self, items: Any, fold: bool) -> str:
        return "".join(self._one(kind, argument, fold) for kind, argument in items)

    def _one(self, kind: Any, argument: Any, fold: bool) -> str:
        chance = self._chance
        if kind is _op.LITERAL:
            return chr(argument)
        if kind is _op.ANY:
            return chance.choice(_LETTERS)
        if kind is _op.IN:
            return chance.choice(self._letters(argument, fold))
        if kind is _op.BRANCH:
            return self._all(chance.choice(argument[1]), fold)
        if kind is _op.SUBPATTERN:
            _, added, taken, inner = argument
            return self._all(inner, (fold or bool(added & re.I)) and not taken & re.I)
        if kind in (_op.MAX_REPEAT, _op.MIN_REPEAT):
            least, most, inner = argument
            times = chance.randint(least, min(most, least + 60 if least > 8 else least + 12))
            return "".join(self._all(inner, fold) for _ in range(times))
        return ""  # what looks around

    def _letters(self, items: Any, fold: bool) -> list[str]:
        found: list[str] = []
        for kind, argument in items:
            if kind is _op.LITERAL:
                found.append(chr(argument))
            elif kind is _op.RANGE:
                found += map(chr, range(argument[0], argument[1] + 1))
            elif argument is _op.CATEGORY_DIGIT:
                found += string.digits
            else:
                found += _WORD
        if fold and self._chance.random() < 0.3:
            found += [letter.swapcase() for letter in found if letter.isalpha()]
        return found


_PROSE_PEM: Final = "-----BEGIN {0}PRIVATE KEY-----\n{1}\n-----END {0}PRIVATE KEY-----"
_NOT_MADE: Final = frozenset(
    {"jwt-base64", "vault-service-token", "clickhouse-cloud-api-secret-key"}
)
"""Patterns that look around at what is made: made by hand below."""
_KEYS: Final = (
    *("API_KEY", "DB_PASSWORD", "passwd", "pwd", "client_secret", "accessToken", "x-api-key"),
    *("passphrase", "aws_session_token", "SharedAccessKey", "refresh-token", "GITHUB_TOKEN"),
)
_JOINS: Final = ("=", ": ", ' = "', ": '", "=>", ":=", "=`")


class Secrets:
    """An endless stream of (rule, text, the secret in it)."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self._shapes = [
            (name, Maker(pattern, self.chance))
            for name, _, _, pattern in SHAPES
            if name not in _NOT_MADE
        ]
        self._named = [
            (rule, names.split("|"), Maker(value, self.chance, ignore_case=True))
            for rule, names, value in NAMED
        ]
        self.rules = len(self._shapes) + len(self._named) + len(_BY_HAND)

    def __iter__(self) -> Iterator[tuple[str, str, str]]:
        while True:
            for name, maker in self._shapes:
                secret = maker.make()
                if "EAAA" not in secret or "AAAA" not in secret[4:]:
                    yield name, secret, secret
            for name, names, maker in self._named:
                vendor = self.chance.choice(names).replace("[_-]?", "_")
                value = maker.make()
                yield name, self._assigned(vendor + self._more(), value), value
            for name, make in _BY_HAND.items():
                text, secret = make(self)
                yield name, text, secret

    def letters(self, size: int, of: str = _LETTERS) -> str:
        """Random letters, digits among them."""
        made = "".join(self.chance.choices(of, k=size))
        return made if any(c.isdigit() for c in made) else self.letters(size, of)

    def _more(self) -> str:
        return self.chance.choice(("", "_key", "_api_token", ".secret", "-id", " Client Secret"))

    def _assigned(self, name: str, value: str) -> str:
        join = self.chance.choice(_JOINS)
        return f"{name}{join}{value}{join[-1] if join[-1] in chr(34) + chr(39) + '`' else ''}"

    def assigned(self) -> tuple[str, str]:
        """A key that says it is secret, and its value."""
        value = self.letters(self.chance.randint(8, 40))
        return self._assigned(self.chance.choice(_KEYS), value), value


def _jwt(made: Secrets) -> tuple[str, str]:
    parts = ["ey" + made.letters(30), "ey" + made.letters(60), made.letters(43, _LETTERS + "-_")]
    return ".".join(parts), ".".join(parts)


def _private_key(made: Secrets) -> tuple[str, str]:
    body = made.letters(300, _LETTERS + "+/")
    kind = made.chance.choice(("", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED "))
    return _PROSE_PEM.format(kind, body), body


def _url(made: Secrets) -> tuple[str, str]:
    password = made.letters(made.chance.randint(6, 30), _LETTERS + "-_.~")
    return f"postgres://app:{password}@db.internal:5432/app", password


def _bearer(made: Secrets) -> tuple[str, str]:
    token = made.letters(made.chance.randint(8, 80), _LETTERS + "-._~+/")
    return f"Authorization: Bearer {token}", token


def _curl(made: Secrets) -> tuple[str, str]:
    password = made.letters(12)
    return f"curl -u admin:{password} https://example.com/", password


def _webhook(made: Secrets) -> tuple[str, str]:
    key = made.letters(44)
    return f"https://hooks.slack.com/workflows/{key}", key


_BY_HAND: Final[dict[str, Callable[[Secrets], tuple[str, str]]]] = {
    "jwt": _jwt,
    "private key": _private_key,
    "url": _url,
    "bearer": _bearer,
    "curl": _curl,
    "slack webhook": _webhook,
    "named": Secrets.assigned,
}

SURROUNDINGS: Final[dict[str, Callable[[str], str]]] = {
    "prose": lambda t: f"I tried it with {t} and then it failed.",
    "end": lambda t: f"the value was {t}",
    "json": lambda t: json.dumps({"text": t, "n": 1}),
    "json in json": lambda t: json.dumps({"a": json.dumps({"text": t})}),
    "json three deep": lambda t: json.dumps({"b": json.dumps({"a": json.dumps({"text": t})})}),
    "unicode escapes": lambda t: json.dumps({"a": t}).replace('\\"', "\\u0022"),
    "new lines in json": lambda t: json.dumps("line\n" + t + "\nnext"),
    "query": lambda t: "https://example.com/a?q=" + urllib.parse.quote(t, safe="") + "&x=1",
    "header": lambda t: f"HTTP/1.1 200\r\nX-Data: {t}\r\nDate: x",
    "yaml": lambda t: f"a:\n  b: |\n    {t}\n  c: 1\n",
    "env": lambda t: f"A=1\n{t}\nB=2\n",
    "repr": lambda t: repr({"x": t, "y": 2}),
    "diff": lambda t: f"@@ -1 +1 @@\n-{t}\n+{t}\n",
    "colours": lambda t: f"\x1b[31m{t}\x1b[0m ok",
    "more colours": lambda t: f"\x1b[1;38;5;196m{t}\x1b[0m ok",
    "export": lambda t: f"export {t}; run",
    "log": lambda t: f"2024-01-01T00:00:00Z INFO [main] got {t} user=7",
    "attribute": lambda t: f"<a b={quoteattr(t)} c='1'/>",
    "markdown": lambda t: f"use `{t}` here",
    "csv": lambda t: '1,"' + t.replace('"', '""') + '",2',
    "glued": lambda t: f"x{t}",
    "glued to a word": lambda t: f"key{t} y",
    "continued line": lambda t: f"run --a 1 \\\n  {t} \\\n  --b 2",
    "quoted": lambda t: f"echo '{t}'",
    "assigned": lambda t: f"value={t}",
    "named": lambda t: f"value: {t}",
}


def _escaped(text: str, every: bool = True) -> str:
    return "".join(f"%{ord(c):02X}" if every or not c.isalnum() else c for c in text)


def _coded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _broken(text: str, at: float, by: str = "\n") -> str:
    place = max(1, round(len(text) * at))
    return f"see {text[:place]}{by}{text[place:]} and"


def _lines(text: str, width: int, by: str = "\n") -> str:
    return "see\n" + by.join(text[at : at + width] for at in range(0, len(text), width)) + "\nand"


DISGUISES: Final[dict[str, Callable[[str], str]]] = {
    "all in percent": lambda t: f"https://example.com/a?q={_escaped(t)}&x=1",
    "signs in percent": lambda t: f"https://example.com/a?q={_escaped(t, every=False)}&x=1",
    "in percent twice": lambda t: _escaped(_escaped(t, every=False), every=False),
    "broken early": lambda t: _broken(t, 0.2),
    "broken late and indented": lambda t: _broken(t, 0.8, "\r\n    "),
    "broken in a reply": lambda t: _broken(t, 0.2, "\n> "),
    "broken in json": lambda t: json.dumps(_broken(t, 0.25)),
    "lines": lambda t: _lines(t, 64),
    "short lines": lambda t: _lines(t, 20),
    "shell": lambda t: _lines(t, 30, "\\\n"),
    "quoted printable": lambda t: _lines(t, 40, "=\n"),
    "base64": lambda t: f"saw {_coded(t)} there",
    "base64 assigned": lambda t: f"VALUE={_coded(t)}",
    "base64 for urls": lambda t: base64.urlsafe_b64encode(t.encode()).decode().rstrip("="),
    "a file in base64": lambda t: base64.encodebytes(
        f"A=1\n# so\n{t}\nB=2\n".encode() * 9
    ).decode(),
    "base64 in json": lambda t: json.dumps(
        {"a": base64.encodebytes(f"A=1\n{t}\n".encode()).decode()}
    ),
    "an address of data": lambda t: f"data:text/plain;base64,{_coded('so: ' + t)}",
}
"""How a secret of a known shape may be written otherwise."""


def is_left(secret: str, masked: str) -> bool:
    """Whether a secret, or sixteen characters of it in a row, are in a text."""
    pieces = range(0, max(1, len(secret) - 15), 4)
    return any(secret[at : at + 16] in masked for at in pieces)
