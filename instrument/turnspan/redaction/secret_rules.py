"""The shapes of secrets that are known wherever they stand: our own, then those of gitleaks.

A rule's pattern is matched where one of its ``heads`` stands (or as far before it as ``back``
says); what group 1 (or everything) covers is masked. Patterns are bounded: a hostile text can make
each head cost no more than a few hundred steps.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Final

from turnspan.redaction.found import encoded
from turnspan.redaction.secret_shapes import SHAPES
from turnspan.runtime.later import later


@dataclass(frozen=True, slots=True)
class SecretRule:
    """A kind of secret with fixed letters in it, one of ``heads``."""

    name: str
    heads: tuple[str, ...]
    back: int
    pattern: str

    def match(self, text: str, head: int) -> re.Match[str] | None:
        """The secret whose head stands there."""
        return compiled(self.pattern).match(text, max(0, head - self.back))


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """A pattern of a rule, compiled when it is first asked: most are never."""
    return re.compile(encoded(pattern), re.ASCII)


def _rule(name: str, heads: str, pattern: str, back: int = 0) -> SecretRule:
    return SecretRule(name, tuple(heads.split()), back, pattern)


_DIGIT: Final = r"(?=[A-Za-z_-]{0,120}\d)"
_END: Final = r"(?![A-Za-z0-9_])"
_B64: Final = r"[\w/+=%-]"

OWN: Final = (
    _rule("anthropic_api_key", "sk-ant-", rf"sk-ant-{_DIGIT}[\w-]{{16,}}"),
    _rule("openrouter_api_key", "sk-or-", r"sk-or-v1-[0-9a-f]{32,}"),
    _rule(
        "openai_api_key",
        "sk-",
        rf"sk-(?:(?:proj|svcacct|admin|None)-{_DIGIT}[\w-]{{20,}}"
        rf"|(?:(?<![a-z]sk-)|(?![0-9a-f]{{32}})){_DIGIT}[A-Za-z0-9]{{20,}})",
    ),
    _rule("langfuse_secret_key", "sk-lf-", r"sk-lf-[0-9a-f]{8}-[0-9a-f-]{27}"),
    _rule("aws_access_key_id", "AKIA ASIA ABIA ACCA", rf"A[KSBC][IC]A[A-Z0-9]{{16}}{_END}"),
    _rule("github_token", "ghp_ gho_ ghu_ ghs_ ghr_", r"gh[pousr]_[A-Za-z0-9]{20,}"),
    _rule("github_token", "github_pat_", r"github_pat_\w{22,}"),
    _rule("gitlab_token", "glpat- gldt- glrt-", r"gl(?:pat|dt|rt)-[\w-]{20,}"),
    _rule("google_api_key", "AIza", r"AIza[\w-]{35}"),
    _rule("google_oauth_secret", "GOCSPX-", r"GOCSPX-[\w-]{24,}"),
    _rule("google_oauth_token", "ya29.", r"ya29\.[\w-]{20,}"),
    _rule(
        "slack_token",
        "xoxa- xoxb- xoxc- xoxd- xoxe- xoxo- xoxp- xoxr- xoxs-",
        rf"xox[abcdeoprs]-{_DIGIT}[\w%/+=-]{{10,}}",
    ),
    _rule("slack_token", "xapp-", r"xapp-\d-[\w-]{10,}"),
    _rule(
        "slack_webhook",
        "com/services/ com/workflows/ com/triggers/"
        " com%2Fservices%2F com%2Fworkflows%2F com%2Ftriggers%2F",
        r"hooks.slack.com/(?:services/T\w+/B\w+/(\w{16,})"
        r"|(?:services|workflows|triggers)/([\w+/]{43,}))",
        12,
    ),
    _rule(
        "teams_webhook",
        ".webhook.office.com",
        r"\.webhook\.office\.com/webhookb2/([\w-]{8,}(?:@|%40)[\w-]{8,}/IncomingWebhook/[\w/-]+)",
    ),
    _rule("stripe_key", "sk_live_ sk_test_ rk_live_ rk_test_", r"[sr]k_(?:live|test)_\w{10,}"),
    _rule("stripe_key", "whsec_", r"whsec_[\w+/=]{20,}"),
    _rule("huggingface_token", "hf_", r"hf_[A-Za-z0-9]{30,}"),
    _rule("npm_token", "npm_", r"npm_[A-Za-z0-9]{36}"),
    _rule("pypi_token", "pypi-AgE", r"pypi-AgE[\w-]{50,}"),
    _rule("digitalocean_token", "dop_v1_ doo_v1_ dor_v1_", r"do[opr]_v1_[0-9a-f]{64}"),
    _rule("shopify_token", "shpat_ shpca_ shppa_ shpss_", r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}"),
    _rule("groq_api_key", "gsk_", r"gsk_[A-Za-z0-9]{40,}"),
    _rule("xai_api_key", "xai-", r"xai-[A-Za-z0-9]{60,}"),
    _rule("perplexity_api_key", "pplx-", r"pplx-[A-Za-z0-9]{40,}"),
    _rule("replicate_token", "r8_", r"r8_[A-Za-z0-9]{37}"),
    _rule("nvidia_api_key", "nvapi-", rf"nvapi-{_DIGIT}[\w-]{{20,}}"),
    _rule("supabase_token", "sbp_", r"sbp_[0-9a-f]{40,}"),
    _rule("supabase_key", "sb_secret_", r"sb_secret_[\w-]{20,}"),
    _rule("figma_token", "figd_ figo_ figr_", rf"fig[dor]_{_DIGIT}[\w-]{{20,}}"),
    _rule("docker_token", "dckr_pat_ dckr_oat_", r"dckr_[po]at_[\w-]{20,}"),
    _rule("sentry_token", "sntrys_ sntryu_", r"sntry[su]_[\w+/=]{20,}"),
    _rule("langsmith_key", "lsv2_", r"lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}"),
    _rule("tavily_api_key", "tvly-", rf"tvly-{_DIGIT}[\w-]{{20,}}"),
    _rule("notion_token", "ntn_ secret_", r"(?:ntn_[A-Za-z0-9]{40,}|secret_[A-Za-z0-9]{43})"),
    _rule("linear_api_key", "lin_api_", r"lin_api_[A-Za-z0-9]{40}"),
    _rule("grafana_token", "glsa_ glc_", r"gl(?:sa|c)_[\w+/=]{32,}"),
    _rule("databricks_token", "dapi", r"dapi[0-9a-f]{32}"),
    _rule("atlassian_token", "ATATT3 ATCTT3 ATBB", r"AT(?:ATT3|CTT3|BB)[\w=-]{32,}"),
    _rule("mailgun_key", "key-", rf"key-(?:(?<![a-z]key-)|(?<=\\[nrt]key-))[0-9a-f]{{32}}{_END}"),
    _rule("twilio_key", "SK", rf"SK[0-9a-f]{{32}}{_END}"),
    _rule("sendgrid_key", "SG.", r"SG\.[\w-]{16,}\.[\w-]{16,}"),
    _rule("vault_token", "hvs. hvb. hvr.", r"hv[sbr]\.[\w-]{24,}"),
    _rule("discord_token", "mfa.", r"mfa\.[\w-]{60,}"),
    _rule("cloudflare_token", "cfut_ cfat_ cfk_", r"cf(?:ut|at|k)_[\w-]{40,}"),
    _rule("firecrawl_key", "fc-", r"fc-[0-9a-f]{32}"),
    _rule("vercel_token", "vcp_ vci_ vca_ vcr_ vck_", r"vc[pciark]_[A-Za-z0-9]{24,}"),
    _rule("pinecone_api_key", "pcsk_", rf"pcsk_{_DIGIT}\w{{20,}}"),
    _rule("posthog_api_key", "phx_", rf"phx_{_DIGIT}[A-Za-z0-9]{{20,}}"),
    _rule("new_relic_api_key", "NRAK-", r"NRAK-[A-Za-z0-9]{20,}"),
    _rule("render_api_key", "rnd_", rf"rnd_{_DIGIT}[A-Za-z0-9]{{20,}}"),
    _rule("fireworks_api_key", "fw_", rf"fw_{_DIGIT}[A-Za-z0-9]{{20,}}"),
    _rule("meta_access_token", "EAA", rf"(?<![A-Za-z0-9_])EAA{_DIGIT}[A-Za-z0-9]{{40,}}"),
    _rule("yandex_api_key", "AQVN", rf"(?<![A-Za-z0-9_])AQVN{_DIGIT}[\w-]{{30,}}"),
    _rule("google_refresh_token", "1//0", rf"(?<![A-Za-z0-9_])1//0{_DIGIT}[\w-]{{20,}}"),
    _rule(
        "azure_account_key",
        "DefaultEndpointsProtocol",
        r"DefaultEndpointsProtocol=[^\s\"']{0,300}?AccountKey=([\w/+=]{40,})",
    ),
    _rule("azure_sas_signature", "sig=", rf"(?<![A-Za-z0-9_])sig=({_B64}{{40,}})"),
    _rule(
        "aws_session_token",
        "IQoJb3JpZ2lu FwoGZXIvYXdz FQoGZXIvYXdz",
        r"(?:IQoJb3JpZ2lu|F[wQ]oGZXIvYXdz)[\w/+=%-]{40,}",
    ),
    _rule(
        "sidekiq-secret",
        "contribsys__com CONTRIBSYS__COM",
        r"(?i:contribsys__com)[ \t\w.\\-]{0,24}"
        r"(?:[^\w\n&]|%[0-9A-F]{2}|(?<=\\)u00\w\w|&#?\w{2,4};){1,14}"
        r"(?i:([a-f0-9]{8}:[a-f0-9]{8}))",
    ),
    _rule(
        "bedrock_api_key",
        "bedrock-api-key-",
        r"bedrock-api-key-YmVkcm9jay5hbWF6b25hd3MuY29t[\w+/=%-]*",
    ),
)
"""Our own, the more specific before the more general."""

RULES: Final = (*OWN, *(_rule(name, heads, pattern, back) for name, heads, back, pattern in SHAPES))
"""Every rule, in the order in which they are asked."""


_SIGN: Final = re.compile(r"[-_.~]")
"""What nearly every head ends its first word with: a head is looked for where one stands."""

_COMMON: Final = frozenset(("le_", "et_", "at_", "pi_", "ey-"))
"""What many a word ends with as well: another sign of the head is better."""

Heads = tuple[tuple[str, int, tuple[SecretRule, ...]], ...]
"""(head, how far the sign that it was found by stands in it, its rules)"""


def _shortest() -> dict[str, tuple[SecretRule, ...]]:
    """The rules by their heads, of which none begins with another."""
    found: dict[str, list[SecretRule]] = {}
    lengths: list[int] = []
    for head in sorted({head for rule in RULES for head in rule.heads}, key=len):
        if not any(head[:length] in found for length in lengths):
            found[head] = []
            lengths = sorted({*lengths, len(head)})
    for rule in RULES:
        for head in rule.heads:
            of_head = next(found[head[:n]] for n in lengths if head[:n] in found)
            if not of_head or of_head[-1] is not rule:
                of_head.append(rule)
    return {head: tuple(rules) for head, rules in found.items()}


def _by_sign() -> tuple[dict[str, Heads], dict[str, tuple[SecretRule, ...]]]:
    """The heads by the three characters up to their first sign, and those without a sign."""
    signed: dict[str, Heads] = {}
    plain: dict[str, tuple[SecretRule, ...]] = {}
    for head, rules in _shortest().items():
        signs = [found.start() for found in _SIGN.finditer(head)]
        sign = next((at for at in signs if at > 1 and head[at - 2 : at + 1] not in _COMMON), 0)
        sign = sign or max(signs, default=0)
        if sign:
            tail = head[max(0, sign - 2) : sign + 1]
            signed[tail] = (*signed.get(tail, ()), (head, sign, rules))
        else:
            plain[head] = rules
    return signed, plain


def _letters(heads: dict[str, tuple[SecretRule, ...]]) -> re.Pattern[str]:
    return later("|".join(sorted(map(re.escape, heads), key=len, reverse=True)))


def _signs(tails: Iterable[str]) -> re.Pattern[str]:
    """A sign behind letters that a head has there; of two letters as of three."""
    lengths: dict[int, dict[str, list[str]]] = {}
    for tail in sorted(tails):
        lengths.setdefault(len(tail), {}).setdefault(tail[0], []).append(re.escape(tail[1:]))
    behind = "|".join(
        f"(?<={'|'.join(f'{first}(?:{_any(rest)})' for first, rest in by_first.items())})"
        for _, by_first in sorted(lengths.items())
    )
    return later(f"[-_.~](?:{behind})")


def _any(tails: list[str]) -> str:
    return "|".join(tails)


SIGNED, PLAIN = _by_sign()
SIGNS: Final = _signs(SIGNED)
IN_LOWER: Final = _letters({head: rules for head, rules in PLAIN.items() if head.islower()})
IN_ANY: Final = _letters(PLAIN)
