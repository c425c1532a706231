"""Secrets of well-known shapes: the table of rules and a scan that ordinary text passes quickly.

Nearly every secret is a long run of letters, digits, ``_`` and ``-`` that begins in a known way
(``sk-ant-``, ``ghp_``, ``AKIA``, ...). So the text is mapped once to runs and gaps, the long runs
are found by a substring search, and only their beginnings are looked up; no rule's expression runs
over ordinary text. The few shapes that are no runs (passwords in URLs and connection strings,
private keys) are found by what must stand in them.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from turnspan.pace import WINDOW, holds

_RUN: Final = 16
"""Shorter runs are no secrets: no rule's secret has a shorter one at its beginning."""

_WORD: Final = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
_TABLE: Final = bytes(97 if byte in _WORD else 32 for byte in range(256))
_LONG: Final = b"a" * _RUN
_HEAD: Final = 3


@dataclass(frozen=True, slots=True)
class Rule:
    """A kind of secret that begins with one of ``heads``.

    ``pattern`` is matched where a long run begins; what group 1 (or everything) covers is masked.
    """

    name: str
    heads: tuple[str, ...]
    pattern: re.Pattern[str]


def _rule(name: str, heads: str, pattern: str) -> Rule:
    return Rule(name, tuple(heads.split()), re.compile(pattern))


_DIGIT: Final = r"(?=[A-Za-z_-]*\d)"

RULES: Final = (
    _rule("anthropic_api_key", "sk-ant-", rf"sk-ant-{_DIGIT}[\w-]{{16,}}"),
    _rule("openrouter_api_key", "sk-or-", r"sk-or-v1-[0-9a-f]{32,}"),
    _rule(
        "openai_api_key",
        "sk-",
        rf"sk-(?:(?:proj|svcacct|admin|None)-{_DIGIT}[\w-]{{20,}}|{_DIGIT}[A-Za-z0-9]{{20,}})",
    ),
    _rule("langfuse_secret_key", "sk-lf-", r"sk-lf-[0-9a-f]{8}-[0-9a-f-]{27}"),
    _rule("aws_access_key_id", "AKIA ASIA ABIA ACCA", r"A[KSBC]I?[AC]A?[A-Z0-9]{16}(?![\w-])"),
    _rule(
        "aws_secret_access_key",
        "aws_secret AWS_SECRET",
        r"(?i:aws_secret_access_key|aws_secret_key)[\\\"']*\s*[:=]\s*[\\\"']*([\w/+=]{40})",
    ),
    _rule("github_token", "ghp_ gho_ ghu_ ghs_ ghr_", r"gh[pousr]_[A-Za-z0-9]{20,}"),
    _rule("github_token", "github_pat_", r"github_pat_\w{22,}"),
    _rule("gitlab_token", "glpat- gldt- glrt-", r"gl(?:pat|dt|rt)-[\w-]{20,}"),
    _rule("google_api_key", "AIza", r"AIza[\w-]{35}"),
    _rule("google_oauth_secret", "GOCSPX-", r"GOCSPX-[\w-]{24,}"),
    _rule("slack_token", "xoxa- xoxb- xoxe- xoxo- xoxp- xoxr- xoxs-", r"xox[abeoprs]-[\w-]{10,}"),
    _rule("slack_token", "xapp-", r"xapp-\d-[\w-]{10,}"),
    _rule("stripe_key", "sk_live_ sk_test_ rk_live_ rk_test_", r"[sr]k_(?:live|test)_\w{10,}"),
    _rule("stripe_key", "whsec_", r"whsec_[\w+/=]{20,}"),
    _rule("jwt", "eyJ", r"eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}"),
    _rule("huggingface_token", "hf_", r"hf_[A-Za-z0-9]{30,}"),
    _rule("npm_token", "npm_", r"npm_[A-Za-z0-9]{36}"),
    _rule("pypi_token", "pypi-", r"pypi-AgE[\w-]{50,}"),
    _rule("digitalocean_token", "dop_v1_ doo_v1_ dor_v1_", r"do[opr]_v1_[0-9a-f]{64}"),
    _rule("shopify_token", "shpat_ shpca_ shppa_ shpss_", r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}"),
    _rule("groq_api_key", "gsk_", r"gsk_[A-Za-z0-9]{40,}"),
    _rule("xai_api_key", "xai-", r"xai-[A-Za-z0-9]{60,}"),
    _rule("perplexity_api_key", "pplx-", r"pplx-[A-Za-z0-9]{40,}"),
    _rule("replicate_token", "r8_", r"r8_[A-Za-z0-9]{37}"),
    _rule("langsmith_key", "lsv2_", r"lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}"),
    _rule("tavily_api_key", "tvly-", rf"tvly-{_DIGIT}[\w-]{{20,}}"),
    _rule("notion_token", "ntn_ secret_", r"(?:ntn_[A-Za-z0-9]{40,}|secret_[A-Za-z0-9]{43})"),
    _rule("linear_api_key", "lin_api_", r"lin_api_[A-Za-z0-9]{40}"),
    _rule("grafana_token", "glsa_ glc_", r"gl(?:sa|c)_[\w+/=]{32,}"),
    _rule("databricks_token", "dapi", r"dapi[0-9a-f]{32}"),
    _rule("atlassian_token", "ATATT3", r"ATATT3[\w=-]{40,}"),
    _rule("mailgun_key", "key-", r"key-[0-9a-f]{32}(?![\w-])"),
    _rule("twilio_key", "SK0 SK1 SK2 SK3 SK4 SK5 SK6 SK7 SK8 SK9", r"SK[0-9a-f]{32}(?![\w-])"),
    _rule("twilio_key", "SKa SKb SKc SKd SKe SKf", r"SK[0-9a-f]{32}(?![\w-])"),
    _rule(
        "azure_account_key",
        "DefaultEndpointsProtocol",
        r"DefaultEndpointsProtocol=[^\s\"']{0,300}?AccountKey=([\w+/=]{40,})",
    ),
)
"""Every rule, the more specific before the more general."""


def _heads() -> dict[str, tuple[Rule, ...]]:
    found: dict[str, list[Rule]] = {}
    for rule in RULES:
        for head in dict.fromkeys(head[:_HEAD] for head in rule.heads):
            found.setdefault(head, []).append(rule)
    return {head: tuple(rules) for head, rules in found.items()}


_BY_HEAD: Final = _heads()

Span = tuple[int, int, str]
"""(start, end, name of the rule)"""


# -- what stands before a run --------------------------------------------------------------------

_BEFORE: Final = 28
_BEARER: Final = re.compile(r"bearer(?:\s|%20|\+)+\Z", re.IGNORECASE)
_BASIC: Final = re.compile(r"basic(?:\s|%20|\+)+\Z", re.IGNORECASE)
_TOKEN: Final = re.compile(r"[\w.~+/=-]{16,}")
_HAS_DIGIT: Final = re.compile(r"[\w.~+/=-]*\d")
_CONTEXTS: Final = frozenset(a + b for a in "rRcC" for b in " +\t") | frozenset(
    ("20", "9.", "G.", "s.", "b.", "r.")
)
"""The two characters before a run that make it worth a look at what else stands there."""
_DOTTED: Final = (
    ("google_oauth_token", re.compile(r"ya29\.\Z"), re.compile(r"[\w-]{20,}")),
    ("sendgrid_key", re.compile(r"SG\.\Z"), re.compile(r"[\w-]{16,}\.[\w-]{16,}")),
    ("vault_token", re.compile(r"hv[sbr]\.\Z"), re.compile(r"[\w-]{24,}")),
)
_SLACK_HOOK: Final = re.compile(r"hooks\.slack\.com/services/T\w+/B\w+/\Z")
_SLACK_HOOK_KEY: Final = re.compile(r"\w{16,}")
_TELEGRAM: Final = re.compile(r"(?<!\d)\d{8,10}:\Z")
_TELEGRAM_KEY: Final = re.compile(r"AA[\w-]{30,}")
_AWS_SECRET: Final = re.compile(r"(?<![\w/+=])[\w/+]{40}(?![\w/+=])")


def _by_context(text: str, start: int) -> Span | None:
    before = text[max(0, start - _BEFORE) : start]
    if before[-1] == ".":
        for name, head, pattern in _DOTTED:
            begun = head.search(before)
            if begun is not None:
                found = _whole(name, pattern, text, start)
                return found and (start - len(before) + begun.start(), found[1], name)
        return None
    if _BEARER.search(before) and _HAS_DIGIT.match(text, start):
        return _whole("bearer_token", _TOKEN, text, start)
    if _BASIC.search(before):
        token = _TOKEN.match(text, start)
        if token is not None and _is_credentials(token.group()):
            return start, token.end(), "basic_auth"
    return None


def _by_path(text: str, start: int) -> Span | None:
    if text[start - 1] == "/":
        begin = max(0, start - 80)
        near = text.rfind("hooks.slack.com", begin, start) >= 0
        if near and _SLACK_HOOK.search(text[begin:start]):
            return _whole("slack_webhook", _SLACK_HOOK_KEY, text, start)
    elif text.startswith("AA", start) and _TELEGRAM.search(text[max(0, start - 12) : start]):
        return _whole("telegram_token", _TELEGRAM_KEY, text, start)
    return None


def _whole(name: str, pattern: re.Pattern[str], text: str, start: int) -> Span | None:
    found = pattern.match(text, start)
    return None if found is None else (start, found.end(), name)


def _is_credentials(encoded: str) -> bool:
    try:
        return b":" in base64.b64decode(encoded + "=" * (-len(encoded) % 4))
    except (binascii.Error, ValueError):
        return False


# -- runs ------------------------------------------------------------------------------------------


def _runs(text: str, marked: bytes, spans: list[Span]) -> None:
    # Lists to add to, here and below: a generator's variables are slow where it is compiled.
    find = marked.find
    position = find(_LONG)
    end = len(text)
    while position >= 0:
        start = position
        stop = find(b" ", position)
        stop = end if stop < 0 else stop
        if start:
            before = text[start - 1]
            found = None
            if text[start - 2 : start] in _CONTEXTS:
                found = _by_context(text, start)
            elif before == "/" or before == ":":
                found = _by_path(text, start)
            elif before == "\\" and text[start] in "nrtbfu":
                start += 5 if text[start] == "u" else 1  # the run begins after an escape
            elif before == "%":
                start += 2
            if found is not None:
                spans.append(found)
        for rule in _BY_HEAD.get(text[start : start + _HEAD], ()):
            matched = rule.pattern.match(text, start)
            if matched is not None:
                group = matched.re.groups
                spans.append((matched.start(group), matched.end(group), rule.name))
                if rule.name == "aws_access_key_id":
                    spans += _aws_secret(text, matched.end())
                break
        position = find(_LONG, stop)


def _aws_secret(text: str, position: int) -> Iterator[Span]:
    """The secret half of a pair that stands near its id."""
    found = _AWS_SECRET.search(text, position, position + 200)
    if found is not None and any(c.isdigit() for c in found.group()):
        yield found.start(), found.end(), "aws_secret_access_key"


# -- what is no run --------------------------------------------------------------------------------

_URL_PASSWORD: Final = re.compile(r"[A-Za-z][\w+.-]*://[^\s/@:\"'<>]*:([^\s/@\"'<>]+)\Z")
_NO_USER: Final = " \n\t`\"'("
_PRIVATE_KEY: Final = re.compile(
    r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY-----.*?(?:-----END [A-Z0-9 ]*KEY-----|\Z)",
    re.DOTALL,
)
_PAIR_PASSWORD: Final = re.compile(r"\b(?i:password|pwd)=([^\s;,\"'&()<>\\]+)")
_PAIR_OTHER: Final = re.compile(
    r"\b(?i:server|host|hostaddr|data source|user|username|user id|uid|dbname|database|port)"
    r"=[^\s;,()\"']+(?:;|\s|\Z)"
)
_QUOTED_VALUE: Final = re.compile(r"\\?\"\s*:\s*\\?\"((?:[^\"\\]|\\[^\"])+)\\?\"")
_KEY_ENDINGS: Final = ("key", "Key", "ecret", "oken", "zation", "tring")

_SENSITIVE: Final = (
    "apikey",
    "authorization",
    "authtoken",
    "accesstoken",
    "clientsecret",
    "connectionstring",
    "passwd",
    "password",
    "privatekey",
    "refreshtoken",
    "secretaccesskey",
    "secretkey",
)


@lru_cache(maxsize=4096)
def names_secret(key: str) -> str:
    """The kind of secret that a key (``X-Api-Key``, ``db_password``, ...) names; empty for none."""
    plain = key.lower().replace("_", "").replace("-", "")
    return next((word for word in _SENSITIVE if plain.endswith(word)), "")


def _url_passwords(text: str) -> Iterator[Span]:
    position = text.find("@")
    while position >= 0:
        begin = max(0, position - 256)
        if text[position - 1] not in _NO_USER and text.find("://", begin, position) >= 0:
            found = _URL_PASSWORD.search(text, begin, position)
            if found is not None:
                yield found.start(1), position, "url_password"
        position = text.find("@", position + 1)


def _private_keys(text: str) -> Iterator[Span]:
    for found in _PRIVATE_KEY.finditer(text):
        yield found.start(), found.end(), "private_key"


def _passwords(text: str, spans: list[Span]) -> None:
    assigned, quoted = "=" in text, '"' in text
    if assigned or quoted:
        position = text.find("assword")
        while position >= 0:
            follows = text[position + 7 : position + 8]
            if follows == "=":
                spans += _pair_password(text, position - 1)
            elif follows == '"' or follows == "\\":
                _quoted(text, position + 7, spans)
            position = text.find("assword", position + 7)
    if assigned and ";" in text:
        position = text.find("wd=")
        while position >= 0:
            spans += _pair_password(text, position - 1)
            position = text.find("wd=", position + 3)


def _named_values(text: str, spans: list[Span]) -> None:
    """Values under a key that names a secret, in a text that is JSON."""
    for ending in _KEY_ENDINGS:
        position = text.find(ending)
        while position >= 0:
            after = position + len(ending)
            follows = text[after : after + 1]
            if follows == '"' or follows == "\\":
                _quoted(text, after, spans)
            position = text.find(ending, after)


def _quoted(text: str, position: int, spans: list[Span]) -> None:
    """The value of the quoted key that ends at a position, if the key names a secret."""
    start = max(text.rfind('"', max(0, position - 64), position) + 1, position - 64, 0)
    kind = names_secret(text[start:position])
    found = _QUOTED_VALUE.match(text, position) if kind else None
    if found is not None:
        spans.append((found.start(1), found.end(1), kind))


def _pair_password(text: str, position: int) -> Iterator[Span]:
    """A password of a connection string: other pairs of it must stand around."""
    found = _PAIR_PASSWORD.match(text, position) if position >= 0 else None
    if found is not None:
        around = max(0, found.start() - 200), min(len(text), found.end() + 200)
        if _PAIR_OTHER.search(text, *around):
            yield found.start(1), found.end(1), "connection_password"


def find_secrets(text: str) -> list[Span]:
    """The secrets in a text, in order, without overlaps (the earlier and longer one wins).

    Each scan is asked only where what its secrets cannot be without is in the text: nearly no text
    has any of it, and these searches are what an ordinary text costs.
    """
    if len(text) < 8:
        return []
    found: list[Span] = []
    marked = text.encode("latin-1", "replace").translate(_TABLE)
    if len(text) > WINDOW:
        keys, runs = holds(text, "PRIVATE KEY-----"), holds(marked, _LONG)
        urls, passwords = holds(text, "@") and holds(text, "://"), holds(text, "assword", "wd=")
    else:
        keys, runs = "PRIVATE KEY-----" in text, _LONG in marked
        urls = "@" in text and "://" in text
        passwords = "assword" in text or ("=" in text and "wd=" in text)
    if keys:
        found += _private_keys(text)
    if runs:
        _runs(text, marked, found)
    if urls:
        found += _url_passwords(text)
    if passwords:
        _passwords(text, found)
    if text[0] in "{[":
        _named_values(text, found)
    if len(found) < 2:
        return found
    found.sort(key=lambda span: (span[0], -span[1]))
    kept = found[:1]
    for span in found[1:]:
        if span[0] >= kept[-1][1]:
            kept.append(span)
    return kept


def mask_secrets(text: str) -> str:
    """The text with ``[REDACTED:<rule>]`` in the place of each secret."""
    found = find_secrets(text)
    if not found:
        return text
    pieces: list[str] = []
    position = 0
    for start, end, name in found:
        pieces += text[position:start], f"[REDACTED:{name}]"
        position = end
    pieces.append(text[position:])
    return "".join(pieces)
