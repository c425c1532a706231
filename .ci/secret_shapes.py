"""Write ``turnspan/redaction/secret_shapes.py``: the shapes of secrets, taken from gitleaks' rules.

    python .ci/secret_shapes.py gitleaks.toml      (config/gitleaks.toml of the release below)

Two kinds of rules are taken. A *shape* begins with letters that nothing else begins with and is
known wherever it stands; what gitleaks wants to stand around it is left out, as a secret may be
glued to anything. A *named* value has no shape of its own, and is known by its vendor's name in
front of it. What is neither (headers, keys between lines, ``password = ...``) is code in
``secrets.py`` and ``named_secrets.py``; ``CODE`` lists it, so that no new rule is left out
unnoticed.
"""

from __future__ import annotations

import hashlib
import itertools
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import tomllib

RELEASE = "v8.30.1"
SHA256 = "e163e53b9e7e8a8511e77271e2b323ed057759542a6d988258afe3a1fa329caf"
TARGET = Path(__file__).parents[1] / "instrument/turnspan/redaction/secret_shapes.py"

CODE = {
    "aws-amazon-bedrock-api-key-short-lived",
    "curl-auth-header",
    "curl-auth-user",
    "freemius-secret-key",
    "generic-api-key",
    "hashicorp-tf-password",
    "jwt",
    "kubernetes-secret-yaml",
    "microsoft-teams-webhook",
    "nuget-config-password",
    "pkcs12-file",  # a file by its name
    "private-key",
    "sidekiq-secret",
    "sidekiq-sensitive-url",
    "slack-webhook-url",
}
"""Rules that are code of ours."""

ANCHORS = {
    "azure-ad-client-secret": ("Q~", 4),
    "facebook-access-token": ("", 0),
    "hashicorp-tf-api-token": (".atlasv1.", 14),
    "maxmind-license-key": ("_mmk", 36),
    "sourcegraph-access-token": ("sgp_", 0),
}
"""Where a shape's fixed letters stand behind its beginning: they, and how far behind."""

PATTERNS = {
    "sourcegraph-access-token": r"sgp_(?:(?:[a-fA-F0-9]{16}|local)_)?[a-fA-F0-9]{40}",
    # A hexadecimal digest has these four digits in it often enough.
    "clickhouse-cloud-api-secret-key": r"4b1d(?![a-f0-9]{38})[A-Za-z0-9]{38}(?![A-Za-z0-9_-])",
    "jwt-base64": r"ZXlK(?:[A-Za-z0-9/\\_+\-\r\n%]{40,2000})={0,2}",
    # What begins a line of base64 within a blob is no token, and zeros are none.
    "square-access-token": (
        r"(?:EAAA(?<![A-Za-z0-9]{17}EAAA)(?![\w-]{0,56}AAAA)|sq0atp-)[\w-]{22,60}"
    ),
    # An attribute of camel-case words (``exports.HashedRekordLogEntryV002``) is no token.
    "vault-service-token": (
        r"(?:hvs\.[\w-]{90,120}"
        r"|s\.(?=[A-Za-z]{0,23}\d)(?!(?=[A-Za-z]{3,23}\d{1,3}[A-Za-z]{0,20}(?!\w))"
        r"(?:[A-Z]?[a-z]{3,24}\d{0,3}|[A-Z][a-z]{2}|[A-Z]\d{1,3}){2,8}(?!\w))"
        r"[A-Za-z0-9]{24}(?!\w))"
    ),
    "slack-legacy-bot-token": r"xoxb-[0-9]{8,14}-[a-zA-Z0-9]{18,26}",
}
"""Patterns that are ours for a reason."""

MORE_NAMED = (("sourcegraph-access-token", "sourcegraph", "[a-f0-9]{40}"),)

_NAMED = re.compile(
    r"(?:\[\\w\.-\]\{0,50\}\?)?(?:\(\?i:)?\[\\w\.-\]\{0,50\}\?\(\?:(?P<names>.*)\)"
    r"\(\?:\[ \\t\\w\.-\]\{0,20\}\)\[\\s'\"\]\{0,3\}\)?"
    r"\(\?:=\|>\|:\{1,3\}=\|\\\|\\\|\|:\|=>\|\\\?=\|,\)\[\\x60'\"\\s=\]\{0,5\}"
    r"\((?P<value>.*)\)\(\?:\[\\x60'\"\\s;\]\|\\\\\[nr\]\|\$\)\Z"
)
_ENDS = (
    r"(?:[\x60'\"\s;]|\\[nr]|$|\b)",
    r"(?:[\x60'\"\s;]|\\[nr]|$)",
    r"(?:$|[\\'\"\x60\s<),])",
    r"(?:[^a-zA-Z0-9+/]|\z)",
    r"(?:[^\w-]|\z)",
    r"\b",
)
_BEGINS = (r"(?:^|[\\'\"\x60\s>=:(,)])", r"\b")


def _python(pattern: str) -> str:
    """A Go pattern as Python has it: flags in the middle get a group of their own."""
    pattern = pattern.replace("[[:alnum:]]", "[A-Za-z0-9]").replace(r"\z", r"\Z")
    at = pattern.find("(?i)")
    while at >= 0:
        end, depth = at + 4, 0
        while end < len(pattern) and not (depth == 0 and pattern[end] == ")"):
            if pattern[end] == "\\":
                end += 1
            elif pattern[end] == "[":
                end = pattern.index("]", end + 1)
            depth += {"(": 1, ")": -1}.get(pattern[end], 0)
            end += 1
        pattern = f"{pattern[:at]}(?i:{pattern[at + 4 : end]}){pattern[end:]}"
        at = pattern.find("(?i)")
    return pattern


def _core(pattern: str) -> str:
    """A pattern without what it wants around the secret."""
    fold = pattern.startswith("(?i)")
    pattern = pattern.removeprefix("(?i)").replace(r"\"", '"')
    for end in _ENDS:
        pattern = pattern.removesuffix(end.replace(r"\"", '"'))
    for begin in _BEGINS:
        pattern = pattern.removeprefix(begin.replace(r"\"", '"'))
    while pattern.startswith("(") and pattern[1] != "?" and _closes(pattern):
        pattern = pattern[1:-1].removeprefix(r"\b").removesuffix(r"\b")
    pattern = re.sub(r"\((?!\?)", "(?:", pattern)
    pattern = re.sub(r"\(\?P<\w+>", "(?:", pattern)
    return _python(f"(?i){pattern}" if fold else pattern)


def _closes(pattern: str) -> bool:
    """Whether the group that a pattern begins with is all of it."""
    depth = 0
    inside = re.sub(r"\\.|\[[^\]]*\]", lambda found: "." * len(found.group()), pattern)
    for at, character in enumerate(inside):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if depth == 0:
            return at == len(pattern) - 1
    return False


def _heads(pattern: str) -> list[str]:
    """What a pattern begins with: every text of fixed letters."""
    from re import _constants as op  # type: ignore[attr-defined]
    from re import _parser  # type: ignore[attr-defined]

    def expand(items: Any) -> Iterator[tuple[str, bool]]:
        """Beginnings, and whether they go through to the end of the items."""
        found = [("", True)]
        for kind, argument in items:
            options: list[tuple[str, bool]]
            if kind is op.LITERAL:
                options = [(chr(argument), True)]
            elif kind is op.SUBPATTERN:
                options = list(expand(argument[3]))
            elif kind is op.BRANCH:
                options = list(itertools.chain.from_iterable(map(expand, argument[1])))
            elif kind is op.IN and len(argument) <= 5 and all(k is op.LITERAL for k, _ in argument):
                options = [(chr(c), True) for _, c in argument]
            else:
                options = [("", False)]
            found = [
                (head + more, through) if open_ else (head, False)
                for head, open_ in found
                for more, through in (options if open_ else [("", False)])
            ]
            if not any(open_ for _, open_ in found):
                break
        yield from found

    heads = {head.rstrip("=") for head, _ in expand(_parser.parse(pattern))}
    if pattern.startswith("(?i:"):
        heads |= {head.lower() for head in heads} | {head.upper() for head in heads}
    return sorted(heads)


def _names(names: str) -> str:
    """A vendor's names in lower case, as one pattern."""
    names = re.sub(r"\(\?-i:([^)]*)\)", r"\1", names)
    names = re.sub(
        r"\[Aa\]|\[Cc\]|\[Jj\]|\[Mm\]|\[Oo\]|\[Ee\]|\[Ss\]", lambda m: m.group()[2], names
    )
    return "|".join(dict.fromkeys(names.lower().replace(",", "").split("|")))


def rules(config: dict[str, Any]) -> tuple[list[tuple[Any, ...]], list[tuple[str, str, str]]]:
    """The shapes and the named values of a configuration."""
    shapes: list[tuple[Any, ...]] = []
    named: list[tuple[str, str, str]] = []
    for rule in config["rules"]:
        name, pattern = rule["id"], rule.get("regex", "")
        if name in CODE:
            continue
        if name == "atlassian-api-token":
            first, _, second = pattern.rpartition(r"|\b")
            named.append(_named(name, first))
            pattern = second
        elif _NAMED.match(pattern.removeprefix("(?i)")):
            named.append(_named(name, pattern))
            continue
        core = PATTERNS.get(name) or _core(pattern)
        anchor, back = ANCHORS.get(name, ("", 0))
        if name == "facebook-access-token":
            named.append((name, "facebook", core))
            continue
        heads = [anchor] if anchor else _heads(core)
        assert all(len(head) > 1 for head in heads), (name, core, heads)
        shapes.append((name, " ".join(heads), back, core))
    return shapes, [*named, *MORE_NAMED]


def _named(name: str, pattern: str) -> tuple[str, str, str]:
    found = _NAMED.match(pattern.removeprefix("(?i)"))
    assert found is not None, name
    value = _python(re.sub(r"\((?!\?)", "(?:", found["value"])).replace("{80,100}", "{80,}")
    names = {"sonar-api-token": "sonar", "snyk-api-token": "snyk"}.get(name) or _names(
        found["names"]
    )
    return name, names, value


HEADER = f'''"""Shapes of secrets, from gitleaks {RELEASE}. Written by ``.ci/secret_shapes.py``.

gitleaks is Copyright (c) 2019 Zachary Rice, under the licence in ``secret_shapes.LICENSE``.
config/gitleaks.toml, sha256 {SHA256}.
"""
# ruff: noqa: E501  a pattern is one line
# fmt: off

from __future__ import annotations

from typing import Final

'''


def main(path: str) -> int:
    """Read gitleaks' rules from a file, write ours; returns the exit code."""
    raw = Path(path).read_bytes()
    if hashlib.sha256(raw).hexdigest() != SHA256:
        print(f"{path} is not config/gitleaks.toml of {RELEASE}.", file=sys.stderr)
        return 1
    shapes, named = rules(tomllib.loads(raw.decode()))
    lines = ["SHAPES: Final[tuple[tuple[str, str, int, str], ...]] = ("]
    lines += [f"    ({n!r}, {h!r}, {b}, {_quoted(p)})," for n, h, b, p in shapes]
    lines += [
        ")",
        '"""Rule, beginnings, how far they stand behind its own beginning, pattern."""',
        "",
    ]
    lines += ["NAMED: Final[tuple[tuple[str, str, str], ...]] = ("]
    lines += [f"    ({n!r}, {_quoted(w)}, {_quoted(p)})," for n, w, p in named]
    lines += [
        ")",
        '"""Rule, the names in front of the value, pattern of the value (any case)."""',
        "",
    ]
    TARGET.write_text(HEADER + "\n".join(lines).replace("'", '"'), encoding="utf-8")
    print(f"{len(shapes)} shapes, {len(named)} named values, {len(CODE)} in code")
    return 0


def _quoted(pattern: str) -> str:
    assert "'" not in pattern
    assert '"' not in pattern, pattern
    return f"r'{pattern}'"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
