"""Masks against secrets made from every rule, against ordinary text, and against hostile text."""

from __future__ import annotations

import base64
import itertools
import json
import random
import re
import time
from pathlib import Path
from urllib.parse import unquote

import pytest

from support.hostile import families
from support.made_secrets import DISGUISES, SURROUNDINGS, Secrets, is_left
from support.representatives import few
from turnspan.redaction.secrets import find_secrets, mask_secrets


def leaks(seed: int, count: int) -> list[str]:
    """The texts in which something of a secret is left, out of so many for each surrounding."""
    found: list[str] = []
    for name, around in SURROUNDINGS.items():
        made = Secrets(seed)
        for rule, text, secret in itertools.islice(made, count):
            surrounded = around(text)
            if is_left(secret, mask_secrets(surrounded)):
                found.append(f"{rule} in {name}: {surrounded}")
    return found


def test_no_secret_of_any_rule_passes_in_any_surrounding() -> None:
    """One of every rule in every surrounding."""
    assert leaks(seed=1, count=Secrets(0).rules) == []


@pytest.mark.release
@pytest.mark.slow
def test_none_of_many_passes() -> None:
    """The same with some twenty-five thousand; `benchmarks/leaks.py` makes a million."""
    assert leaks(seed=2, count=1_000) == []


@pytest.mark.parametrize("name", DISGUISES)
def test_a_known_shape_is_known_in_disguise(name: str) -> None:
    """Each of them, of at least 32 characters: of a shorter one too little may stand on a line."""
    left: list[str] = []
    for rule, text, secret in itertools.islice(Secrets(3), Secrets(0).rules):
        if text != secret or len(secret) < 32 or "=" in secret[:-2]:
            continue  # a = before a line's end is quoted-printable's
        disguised = DISGUISES[name](secret)
        masked = mask_secrets(disguised)
        undone = re.sub(r"=\n|\\+(?:r|n)?|[\s>]", "", unquote(unquote(masked)))
        for coded in re.findall(r"[A-Za-z0-9+/_-]{24,}={0,2}", undone):
            whole = coded[: len(coded) // 4 * 4]
            undone += base64.urlsafe_b64decode(whole).decode("latin-1")
        if "REDACTED" not in masked or is_left(secret, undone):
            left.append(f"{rule}: {disguised}")
    assert left == []


@pytest.mark.parametrize(
    "text",
    [
        f"key ghp_{'aB3dE6gH9jKm2nP5qR8t' * 2}"[:44] + "\n20240501T101500Z started",
        f"ghp_{'aB3dE6gH9j' * 4}"[:40] + "\n" + f"ghp_{'Zy8xW5vU2t' * 4}"[:40] + "\n",
    ],
)
def test_what_stands_on_the_next_line_stays(text: str) -> None:
    """Behind a whole secret, and the line's end between two."""
    masked = mask_secrets(text)
    assert masked.count("\n") == text.count("\n")
    assert "ghp_" not in masked and ("started" not in text or "20240501T101500Z" in masked)


def test_files_in_base64_stay() -> None:
    """Random letters, line after line, and base64 of text without a secret."""
    chance = random.Random(5)
    texts = [base64.encodebytes(chance.randbytes(60_000)).decode() for _ in range(5)]
    source = Path(json.__file__).read_bytes()
    texts += [base64.encodebytes(source).decode(), base64.b64encode(source).decode()]
    assert [mask_secrets(text) == text for text in texts] == [True] * 7


def test_disguise_within_disguise_costs_what_its_length_costs() -> None:
    """Once: what was undone is not undone again."""
    text = "a%41"
    for _ in range(7):
        text = base64.b64encode((text.replace("%", "%25") + "%41" * 9).encode()).decode() * 2
    begun = time.thread_time()
    find_secrets(text)
    find_secrets("%25" * 40_000 + "41" * 9)
    find_secrets("a1b2c3d4e5f6g7h8\n" * 20_000)
    assert time.thread_time() - begun < 20e-6 * (len(text) + 120_000 + 340_000)


def test_ordinary_text_has_hardly_a_false_hit() -> None:
    """At most one in a million characters of the standard library's sources, tests left out."""
    library = Path(json.__file__).parents[1]
    texts = [path.read_text("utf-8", "replace") for path in sorted(library.glob("*.py"))]
    for package in ("json", "email", "http", "asyncio", "xml", "urllib", "logging", "ctypes"):
        texts += [
            p.read_text("utf-8", "replace") for p in sorted((library / package).rglob("*.py"))
        ]
    hits = [text[max(0, s[0] - 40) : s[1]] for text in texts for s in find_secrets(text)]
    assert len(hits) <= max(1, sum(map(len, texts)) / 1e6), hits


ORDINARY = [
    "id 550e8400-e29b-41d4-a716-446655440000 and 9fceb02d0ae598e95dc970b74767f19372d61af8",
    '"integrity": "sha512-dnKZ0e9w7fm5n0Gm+1Y0s3wqvQzK7sT1pQ8y6c1JmQK3H0h9Vb0P3Xk0d2e5aJ=="',
    "sha256:4b1d8f1a7e0c93bd0f2a7d0c1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d",
    "data:image/png;base64," + "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk" * 4,
    "def f(password: str, token: Token | None = None, key=lambda item: item.key) -> None:",
    "self.password = password\nself._token = tokens[0]\nauth = HTTPBasicAuthHandler()",
    "if token == 'word' and key == \"value_2\": api_version = '2024-02-15-preview'",
    "tokenizer: cl100k_base, max_tokens: 1024, total_tokens=2048, author: Jane2 Doe3",
    "password: must be at least eight characters; secret: see below; token: required",
    "key: value\nprimary_key: user_id\ncache_key=user:42:profile\npublic_key: none",
    "os.environ['API_KEY'], ${DB_PASSWORD}, <password>, {{ secret }}, $TOKEN, %(password)s",
    "the task-550e8400e29b41d4a716446655440000 and monkey-0123456789abcdef0123456789abcdef",
    "exports.HashedRekordLogEntryV002 = this.sendSocks5CommandRequest",
    "const OID_PKCS9_MESSAGE_DIGEST_KEY = '1.2.840.113549.1.9.4'",
    "task-manager-of-the-very-long-name, https://example.com:8443/@user, git@github.com:a/b.git",
    '{"type": "object", "properties": {"password": {"type": "string"}}, "required": ["password"]}',
]


@pytest.mark.parametrize("text", ORDINARY, ids=lambda text: text[:24])
def test_what_looks_like_a_secret_and_is_none_stays(text: str) -> None:
    """Ids, digests, images, code, placeholders, schemas and talk about secrets."""
    assert mask_secrets(text) == text


ASSIGNED = [
    ("DB_PASSWORD=hunter2", "DB_PASSWORD=[REDACTED:password]"),
    ("export API_KEY='abc'", "export API_KEY='[REDACTED:apikey]'"),
    ("password: hunter2", "password: [REDACTED:password]"),
    ("db:\n  passwd: swordfish\n", "db:\n  passwd: [REDACTED:passwd]\n"),
    ("Config(api_key='abc', n=1)", "Config(api_key='[REDACTED:apikey]', n=1)"),
    ('so: {"password": 12345, "b": 1}', 'so: {"password": "[REDACTED:password]", "b": 1}'),
    ('{"secret": {"a": ["x", 2]}, "z": 1}', '{"secret": "[REDACTED:secret]", "z": 1}'),
    ("Cookie: session=abc123def456; a=b", "Cookie: [REDACTED:cookie]"),
    ("Authorization: Bearer ab+/.=12", "Authorization: Bearer [REDACTED:bearer_token]"),
    ("authorization: Basic YTpi", "authorization: Basic [REDACTED:basic_auth]"),
    ("x-api-key: abcd", "x-api-key: [REDACTED:apikey]"),
    ("run --password hunter2 --x", "run --password [REDACTED:password] --x"),
    ("postgres://u:p/a@s@h:5432/db", "postgres://u:[REDACTED:url_password]@h:5432/db"),
    ("SharedAccessKey=abcDEF123+/=;", "SharedAccessKey=[REDACTED:sharedaccesskey];"),
    ("<password>hunter2</password>", "<password>[REDACTED:password]</password>"),
    ('<add key="Password" value="a$b" />', '<add key="Password" value="[REDACTED:password]" />'),
    ("-----BEGIN PGP PRIVATE KEY BLOCK-----\nab\n-----END PGP PRIVATE KEY BLOCK-----.", None),
    ("data:\n  pw: aGVsbG8gd29ybGQ=\nkind: Secret\n", None),
]


@pytest.mark.parametrize(("text", "masked"), ASSIGNED, ids=lambda text: str(text)[:24])
def test_what_a_name_announces_is_masked(text: str, masked: str | None) -> None:
    """Lines of .env and YAML, JSON, reprs, headers, commands, markup."""
    assert mask_secrets(text) == masked if masked else "REDACTED" in mask_secrets(text)


A20, A40 = "aB3dE6gH9jKm2nP5qR8t", "aB3dE6gH9jKm2nP5qR8tUv1wX4yZ7cF0sL6hG2kD"
IN_COMMANDS = [
    (f"key pcsk_{A20}_{A20} here", f"pcsk_{A20}_{A20}"),
    (f"phx_{A40}", A40),
    ("NRAK-AB3DE6GH9JKM2NP5QR8TUV1WX4Y", "AB3DE6GH9JKM2NP5QR8TUV1WX4Y"),
    (f"RENDER rnd_{A20}aa1", A20),
    (f"graph?access_token=EAA{A40}{A40}", A40),
    (f"saw EAA{A40}{A40} there", A40),
    (f"fw_{A20}ab1", A20),
    (f"AQVN{A40}", A40),
    (f"refresh 1//0{A40}", A40),
    ("machine api.example.com login ada password hunter2", "hunter2"),
    ("machine h\n  login ada\n  password swordfish\n", "swordfish"),
    ("sshpass -p hunter2 ssh ada@host", "hunter2"),
    ("sshpass -p'swordfish' ssh ada@host", "swordfish"),
    ("docker login -u ada -p swordfish registry.example", "swordfish"),
    ("mysql -u root -pswordfish shop", "swordfish"),
    ("mysqldump --single-transaction -uroot -p'sword!fish' shop", "sword!fish"),
    ("net use Z: \\\\server\\share swordfish /user:ada", "swordfish"),
    ("net use \\\\server\\share /user:dom\\ada swordfish", "swordfish"),
    ("CREATE USER ada WITH PASSWORD 'swordfish'", "swordfish"),
    ("ALTER ROLE ada ENCRYPTED PASSWORD 'swordfish';", "swordfish"),
    ("CREATE USER 'ada'@'%' IDENTIFIED BY 'swordfish';", "swordfish"),
    ("CREATE USER ada IDENTIFIED WITH sha256_password BY 'swordfish'", "swordfish"),
    ("The password is hunter2.", "hunter2"),
    ("our passphrase was: 'swordfish', I think", "swordfish"),
    ("ada:$apr1$Qx7fT1kz$9fKc0n4wB2mZs8eYv6uHd1:1", "9fKc0n4wB2mZs8eYv6uHd1"),
    (f"root:$6$rounds=5000$saltsalt${A40}{A40}:19000:0", A40),
    ("Cookie: sid=abc", "abc"),
    ("Cookie: auth=x1; theme=dark", "x1"),
]


@pytest.mark.parametrize(("text", "secret"), IN_COMMANDS, ids=lambda text: text[:20])
def test_secrets_of_commands_and_sentences_are_masked(text: str, secret: str) -> None:
    """And in a line of JSON, where quotes and backslashes are escaped."""
    for around in (text, f"first line\n{text}\nlast line"):
        masked = mask_secrets(around)
        assert secret not in masked, masked
    if "\n" not in text:
        assert secret not in mask_secrets(json.dumps({"command": f"echo; {text}"}))


@pytest.mark.parametrize(
    "text",
    [
        "The password is required and the token is invalid; my password was wrong.",
        "please login with -p to choose a port; docker login registry.example",
        "mysql -u root -p shop_db\nmysql -P 3306 -h host",
        "GRANT SELECT ON t TO ada; SELECT 'password', 'token' FROM users WHERE identified",
        "net use Z: \\\\server\\share * /user:ada",
        "costs $6 or $1, see $2y and the regular expression ^a$b$",
        "the secret is out, and the pin is gone",
    ],
)
def test_talk_about_passwords_stays(text: str) -> None:
    """Commands that ask for it, prose, prices."""
    assert mask_secrets(text) == text


@pytest.mark.parametrize("part", few(range(6), [0]))
def test_hostile_text_costs_what_its_length_costs(part: int) -> None:
    """No family of texts costs more than twenty microseconds a character, and ten times the text
    not a hundred times as much, as what is quadratic."""
    slow: dict[str, float] = {}
    for name, piece in list(families())[part::6]:
        text = (piece * (6_000 // len(piece) + 1))[:6_000]
        took = _seconds(text)
        if took > 20e-6 * len(text) and min(_seconds(text) for _ in range(3)) > 20e-6 * len(text):
            slow[name] = took
        if took > 4e-3 and took > 40 * min(_seconds(text[:600]) for _ in range(3)):
            large = min(_seconds(text) for _ in range(3))
            if large > 40 * min(_seconds(text[:600]) for _ in range(5)):
                slow[name] = took
    assert slow == {}


def _seconds(text: str) -> float:
    begun = time.thread_time()
    find_secrets(text)
    return time.thread_time() - begun
