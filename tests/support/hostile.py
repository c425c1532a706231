"""Texts made to be slow for the masks: one piece each, to be repeated."""

from __future__ import annotations

from collections.abc import Iterator

from turnspan.redaction.secret_rules import RULES
from turnspan.redaction.secret_shapes import NAMED

_NAMES = (
    *("key", "token", "secret", "password", "passwd", "pwd", "passphrase", "api_key", "auth"),
    *("authorization", "credential", "access", "cookie", "bearer", "basic", "curl", "api"),
    *("xoxa-1", "ZXlKa", "--password", "_pass", "linkedin", "dropbox", "sumo"),
)
_AFTER = (
    *(
        "",
        " ",
        "=",
        ": ",
        '="',
        "='",
        ": [",
        '": {"a',
        '":"',
        '\\":\\"',
        "=>",
        ",",
        "|",
        " = ",
        "===",
    ),
    *(
        ": Bearer ",
        ": Basic ",
        "%3D%22",
        "&quot;:&quot;",
        "\\u0022:\\u0022",
        "\x1b[31m=",
        " value=",
    ),
    *('": [[[[', "='''", " -u ", ' -H "x-key: ', ": a=b; ", " kind: Secret data:"),
)
_RUNS = (
    *(
        "a",
        "A",
        "0",
        "f",
        "-",
        "_",
        ".",
        "/",
        "=",
        "+",
        "~",
        "%",
        ":",
        "@",
        '"',
        "'",
        "\\",
        " ",
        "\n",
    ),
    *(
        "\x1b[",
        "&",
        ",",
        "|",
        ">",
        "{",
        "[",
        "a0",
        "aA",
        "a_",
        "a-",
        "a.",
        "a/",
        "a=",
        "%41",
        "ab=cd ",
    ),
    *(
        "eyJ",
        ".ey",
        ".eyJhbGciOiJIUzI1NiJ9",
        "ey.ey",
        "a.ey",
        "://",
        "://a:",
        "://a:b@",
        "a://b:c/",
        "@",
    ),
    *(
        "http://u:p/",
        "http://a:b@c d",
        ":\\/\\/",
        "%3A%2F%2F",
        "%3A%2F%2Fa%3A",
        "%40",
        "-----BEGIN ",
    ),
    *(
        "-----BEGIN RSA PRIVATE KEY-----",
        "-----END ",
        "-----BEGIN A PRIVATE",
        "kind: Secret\n",
        "data:\n",
    ),
    *("kind: Secret\ndata:\n", "AccountKey=", "DefaultEndpointsProtocol=x;", "12345678:AA", "1|"),
    *(
        "sig=",
        "00000000:",
        "AKIAAAAAAAAAAAAAAAA ",
        "x" * 15 + " ",
        "x1" * 8 + " ",
        ", " + "a1b2c3d4e5" * 2,
    ),
    *(
        "cGFzc3dvcmQ9",
        "Z2hwX2Ex",
        "cGFzc3dvcmQ9\n",
        "Z2hwX2ExQjJjM0Q0ZTVmNmc3\n  ",
        "%252541",
        "%67%68%70%5F",
        "ghp%5Fa1B2c3D4e5",
        "a1b2c3d4e5f6g7h8\n",
        "a1b2c3d4e5f6g7h8=\n> ",
        "a1b2c3d4e5f6g7h8\\n",
        "ghp_\na1b2c3d4e5f6g7h8",
    ),
)


def families() -> Iterator[tuple[str, str]]:
    """(name, piece) of every family."""
    for run in _RUNS:
        yield f"run {run!r}", run
    for name in _NAMES:
        for after in _AFTER:
            yield f"name {name + after!r}", name + after
            yield f"name {name + after!r} + value", f"{name}{after}a1B2c3D4e5"
    for head in sorted({head for rule in RULES for head in rule.heads}):
        yield f"head {head!r}", head
        yield f"head {head!r} + near miss", f"{head}a1-B2_c3.D4/e5="
        yield f"head {head!r} + space", f"{head}a1B2c3D4e5f6g7h8 "
        yield f"head {head!r} + lines", f"{head}a1B2c3D4\ne5f6g7h8j9k0l1m2"
    for rule, names, _ in NAMED:
        name = names.split("|")[0].replace("[_-]?", "_")
        yield f"vendor {rule}", f"{name}_key = a1b2c3d4e5f6g7h8j9k0 "
        yield f"vendor {rule} in a run", f"{name}=a1b2c3d4e5f6g7h8="
