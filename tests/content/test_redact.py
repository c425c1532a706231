"""Masks of secrets, the application's hook, and failing closed."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

from turnspan.config import Settings
from turnspan.dialects.convert import convert_message, rebuild_message
from turnspan.redaction.brief import error_text
from turnspan.redaction.redactor import DROPPED, FAILED, Redactor
from turnspan.redaction.secret_rules import OWN
from turnspan.redaction.secrets import find_secrets, mask_secrets
from turnspan.runtime.guard import errors

_A = "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8S9t0U1v2W3x4Y5z6A7b8C9d0E1f2"
_HEX = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
_JWT = f"eyJ{_A[:20]}.eyJ{_A[:30]}.{_A[:43]}"

# Written in pieces, so that no scanner of this repository takes them for real ones.
SECRETS = [
    ("anthropic_api_key", "sk-" + f"ant-api03-{_A}-{_A}AA"),
    ("openrouter_api_key", "sk-" + f"or-v1-{_HEX}"),
    ("openai_api_key", "sk-" + _A[:48]),
    ("openai_api_key", "sk-" + f"proj-{_A}_{_A}"),
    ("openai_api_key", "sk-" + f"svcacct-{_A}"),
    ("langfuse_secret_key", "sk-" + "lf-01234567-89ab-cdef-0123-456789abcdef"),
    ("aws_access_key_id", "AKIA" + "IOSFODNN7EXAMPL2"),
    ("aws_access_key_id", "ASIA" + "IOSFODNN7EXAMPL2"),
    ("github_token", "ghp_" + _A[:36]),
    ("github_token", "gho_" + _A[:36]),
    ("github_token", "github_" + f"pat_{_A[:22]}_{_A[:59]}"),
    ("gitlab_token", "glpat-" + _A[:20]),
    ("google_api_key", "AIza" + _A[:35]),
    ("google_oauth_secret", "GOCSPX-" + _A[:28]),
    ("google_oauth_token", "ya29" + f".{_A}"),
    ("slack_token", "xoxb-" + "1234567890-1234567890-" + _A[:24]),
    ("slack_token", "xapp-" + f"1-A1234567890-1234567890-{_HEX}"),
    ("stripe_key", "sk_" + "live_" + _A[:24]),
    ("stripe_key", "rk_" + "test_" + _A[:24]),
    ("stripe_key", "whsec_" + _A[:32]),
    ("jwt", _JWT),
    ("huggingface_token", "hf_" + "AbCdEfGhIjKlMnOpQrStUvWxYzAbCdEfGh"),
    ("npm_token", "npm_" + _A[:36]),
    ("pypi_token", "pypi-" + "AgEIcHlwaS5vcmc" + _A),
    ("digitalocean_token", "dop_v1_" + _HEX),
    ("shopify_token", "shpat_" + _HEX[:32]),
    ("groq_api_key", "gsk_" + _A[:52]),
    ("xai_api_key", "xai-" + _A + _A[:16]),
    ("perplexity_api_key", "pplx-" + _A[:48]),
    ("replicate_token", "r8_" + _A[:37]),
    ("langsmith_key", "lsv2_" + f"pt_{_HEX[:32]}_{_HEX[:10]}"),
    ("tavily_api_key", "tvly-" + f"dev-{_A[:32]}"),
    ("notion_token", "ntn_" + _A[:46]),
    ("notion_token", "secret_" + _A[:43]),
    ("linear_api_key", "lin_" + "api_" + _A[:40]),
    ("grafana_token", "glsa_" + _A[:32] + "_0123abcd"),
    ("databricks_token", "dapi" + _HEX[:32]),
    ("atlassian_token", "ATATT3" + _A[:60]),
    ("mailgun_key", "key-" + _HEX[:32]),
    ("twilio_key", "SK" + _HEX[:32]),
    ("sendgrid_key", "SG" + f".{_A[:22]}.{_A[:43]}"),
    ("vault_token", "hvs" + f".{_A[:40]}"),
    ("slack_token", "xoxc-" + "1234567890-1234567890-" + _A[:24]),
    ("slack_token", "xoxd-" + _A[:30] + "%2Fab"),
    ("nvidia_api_key", "nvapi-" + _A),
    ("supabase_token", "sbp_" + _HEX[:40]),
    ("supabase_key", "sb_" + "secret_" + _A[:31]),
    ("figma_token", "figd_" + _A[:40]),
    ("docker_token", "dckr_" + "pat_" + _A[:27]),
    ("sentry_token", "sntrys_" + "eyJpYXQiO" + _A),
    ("discord_token", "mfa" + f".{_A}{_A[:20]}"),
    ("cloudflare_token", "cfut_" + _A[:40]),
    ("firecrawl_key", "fc-" + _HEX[:32]),
    ("pinecone_api_key", "pcsk_" + _A[:30]),
    ("posthog_api_key", "phx_" + _A[:43]),
    ("new_relic_api_key", "NRAK-" + _A[:27].upper()),
    ("render_api_key", "rnd_" + _A[:28]),
    ("fireworks_api_key", "fw_" + _A[:24]),
    ("vercel_token", "vcp_" + _A[:40]),
    ("aws_session_token", "IQoJb3JpZ2lu" + _A + _A),
    ("bedrock_api_key", "bedrock-" + "api-key-YmVkcm9jay5hbWF6b25hd3MuY29t" + _A),
]

AROUND = [
    "{}",
    "the key is {}, keep it",
    "export API_KEY={}",
    '{{"key": "{}"}}',
    "line one\\n{}\\nline two",
    "https://example.com/?key={}&x=1",
    "({})",
    "été 日本語 {} 日本",
    "Authorization: token {}",
]


@pytest.mark.parametrize(("name", "secret"), SECRETS)
def test_secrets_of_known_shapes_are_masked_wherever_they_stand(name: str, secret: str) -> None:
    """No character of the secret is left, the text around it is, and the mask names the shape."""
    for around in AROUND:
        assert mask_secrets(around.format(secret)) == around.format(f"[REDACTED:{name}]")


def test_every_rule_has_a_sample() -> None:
    """The samples above cover the table of our own rules; the others' are made from theirs."""
    elsewhere = {
        "azure_account_key",
        "azure_sas_signature",
        "slack_webhook",
        "teams_webhook",
        "sidekiq-secret",
        # Their heads are letters that base64 has too: known only where they begin a word.
        "meta_access_token",
        "yandex_api_key",
        "google_refresh_token",
    }
    assert {rule.name for rule in OWN} - elsewhere <= {name for name, _ in SECRETS}


_AWS_SECRET = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
_PEM = "\n".join(
    ["-----BEGIN RSA " + "PRIVATE KEY-----", _A, _A[::-1], "abc=", "-----END RSA PRIVATE KEY-----"]
)


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        pytest.param(
            f"aws_secret_access_key = {_AWS_SECRET}",
            "aws_secret_access_key = [REDACTED:aws_secret_access_key]",
            id="aws secret by its name",
        ),
        pytest.param(
            "AKIA" + f"IOSFODNN7EXAMPL2 / {_AWS_SECRET} in us-east-1",
            "[REDACTED:aws_access_key_id] / [REDACTED:aws_secret_access_key] in us-east-1",
            id="aws pair",
        ),
        pytest.param(f"see {_PEM} done", "see [REDACTED:private_key] done", id="pem"),
        pytest.param(
            "see " + _PEM.replace("\n", "\\n") + '", "x": 1',
            'see [REDACTED:private_key]", "x": 1',
            id="pem in json",
        ),
        pytest.param(_PEM[:90], "[REDACTED:private_key]", id="pem cut short"),
        pytest.param(
            "Authorization: Bearer abcdef0123456789abcdef",
            "Authorization: Bearer [REDACTED:bearer_token]",
            id="bearer",
        ),
        pytest.param(
            "authorization: Basic dXNlcjpwYXNzd29yZA==",
            "authorization: Basic [REDACTED:basic_auth]",
            id="basic",
        ),
        pytest.param(
            "postgres://app:hunter2@db.internal:5432/app",
            "postgres://app:[REDACTED:url_password]@db.internal:5432/app",
            id="url password",
        ),
        pytest.param(
            "redis://:hunter2@cache/0", "redis://:[REDACTED:url_password]@cache/0", id="no user"
        ),
        pytest.param(
            "Server=tcp:db;Database=app;User Id=sa;Password=hunter2;",
            "Server=tcp:db;Database=app;User Id=sa;Password=[REDACTED:connection_password];",
            id="ado",
        ),
        pytest.param(
            "host=db user=app password=hunter2 dbname=x",
            "host=db user=app password=[REDACTED:connection_password] dbname=x",
            id="libpq",
        ),
        pytest.param(
            "Server=db;Uid=sa;Pwd=hunter2",
            "Server=db;Uid=sa;Pwd=[REDACTED:connection_password]",
            id="pwd",
        ),
        pytest.param(
            '{"user": "a", "password": "hunter2"}',
            '{"user": "a", "password": "[REDACTED:password]"}',
            id="json text",
        ),
        pytest.param(
            '"{\\"db_password\\": \\"hunter2\\"}"',
            '"{\\"db_password\\": \\"[REDACTED:password]\\"}"',
            id="json in json",
        ),
        pytest.param(
            "DefaultEndpointsProtocol=https;AccountName=x;AccountKey=" + _A + "==;E=core",
            "DefaultEndpointsProtocol=https;AccountName=x;"
            "AccountKey=[REDACTED:azure_account_key];E=core",
            id="azure",
        ),
        pytest.param(
            "https://hooks.slack.com/services/" + "T0123ABCD/B0123ABCD/" + _A[:24],
            "https://hooks.slack.com/services/T0123ABCD/B0123ABCD/[REDACTED:slack_webhook]",
            id="slack webhook",
        ),
        pytest.param(
            "bot 1234567890:" + "AA" + _A[:33], "bot 1234567890:[REDACTED:telegram_token]", id="tg"
        ),
    ],
)
def test_secrets_known_by_what_stands_around_them(text: str, masked: str) -> None:
    """Passwords and keys without a shape of their own are known by their surroundings."""
    assert mask_secrets(text) == masked


@pytest.mark.parametrize(
    "text",
    [
        "What is my social security number used for?",
        "My password does not work, and the bearer of this letter is John.",
        "Use basic internationalization and bearer authentication-mechanisms.",
        "call_l0e8jLSv6OoxjCNiRp4kcVJ0 chatcmpl-AbCdEfGhIjKlMnOpQrStUvWx",
        "task-manager-of-the-very-long-name sk-learn-pipeline-transformers",
        "550e8400-e29b-41d4-a716-446655440000 " + _HEX,
        "mail bob@example.com or see http://example.com:80/@user and ssh://git@github.com/x",
        "def connect(user=user, password=password): ...",
        "password=",
        "-----BEGIN PUBLIC KEY-----",
        "aws_secret_access_key is the name of the variable",
        "secret_santa_is_coming_to_town_with_very_many_presents_for",
        "https://user:@host/ and 10:30@noon and a@b:c@d",
        "/usr/lib/python3/dist-packages/opentelemetry/instrumentation/__init__.py",
    ],
)
def test_ordinary_words_are_untouched(text: str) -> None:
    """Talk about secrets, ids, hashes, paths and code are none."""
    assert find_secrets(text) == []
    assert mask_secrets(text) is text


@pytest.fixture
def counted() -> Iterator[dict[str, int]]:
    """Swallowed errors; empty at the beginning, forgotten at the end."""
    errors.reset()
    yield errors.counts()
    errors.reset()


def test_a_structure_without_secrets_is_returned_as_it_is(counted: dict[str, int]) -> None:
    """The same object comes back, so that an unchanged message costs no copy."""
    value = [{"role": "user", "content": ["hello", 1, None, True, 2.5]}]
    assert Redactor(Settings()).value(value, "input") is value
    assert Redactor(Settings(mask_secrets=False)).value(value, "input") is value


def test_only_changed_branches_are_copied() -> None:
    """A masked branch is new, the value handed in is not changed, its other branches are shared."""
    secret = SECRETS[0][1]
    value: dict[str, Any] = {"a": [{"text": f"x {secret}"}], "b": {"c": ["d"]}}
    masked = Redactor(Settings()).value(value, "input")
    assert masked == {"a": [{"text": "x [REDACTED:anthropic_api_key]"}], "b": {"c": ["d"]}}
    assert masked["b"] is value["b"]
    assert secret in value["a"][0]["text"]


def test_keys_that_name_a_secret_mask_their_text() -> None:
    """Whatever stands under password, api_key, Authorization, ... is masked; schemas are not."""
    redactor = Redactor(Settings())
    assert redactor.value(
        {
            "password": "x",
            "apiKey": "y",
            "extra_headers": {"Authorization": "Token z", "X-Api-Key": "k"},
            "max_tokens": 5,
            "properties": {"password": {"type": "string"}},
            "api_key": None,
        },
        "tool_arguments",
    ) == {
        "password": "[REDACTED:password]",
        "apiKey": "[REDACTED:apikey]",
        "extra_headers": {
            "Authorization": "[REDACTED:authorization]",
            "X-Api-Key": "[REDACTED:apikey]",
        },
        "max_tokens": 5,
        "properties": {"password": {"type": "string"}},
        "api_key": None,
    }
    secret = SECRETS[8][1]
    assert redactor.value({f"k {secret}": 1}, "input") == {"k [REDACTED:github_token]": 1}


def test_json_text_stays_json_and_is_masked_by_its_keys() -> None:
    """Arguments as JSON text are masked where a key names a secret, at any depth."""
    redactor = Redactor(Settings())
    arguments = '{"api_key": "abc", "n": {"Authorization": "Token z"}, "token_count": "3"}'
    masked = '{"api_key": "[REDACTED:apikey]", "n": {"Authorization": "[REDACTED:authorization]"}'
    assert redactor.text(arguments, "tool_arguments") == masked + ', "token_count": "3"}'
    whole = json.dumps({"role": "assistant", "x": arguments, "password": "p"})
    redacted = json.loads(redactor.json(whole, "output"))
    assert redacted["x"] == masked + ', "token_count": "3"}'
    assert redacted["password"] == "[REDACTED:password]"
    assert redactor.json("{not json", "output") == "{not json"
    upper = Redactor(Settings(redact=lambda text, where: text.replace("{", "<")))
    assert json.loads(upper.json('{"a": "{b}"}', "output")) == {"a": "<b}"}


def test_a_redacted_message_is_still_rebuilt() -> None:
    """Masks and the hook change what was said, not the shape that the message is rebuilt by."""

    def hook(text: str, where: str) -> str | None:
        return None

    for settings in (Settings(redact=hook), Settings()):
        for written in ('{"api_key":  "abc"}', '{"api_key": "abc"}'):
            function = {"arguments": written, "name": "f"}
            raw = {
                "content": None,
                "role": "assistant",
                "tool_calls": [{"id": "c", "function": function, "type": "function"}],
            }
            message = convert_message("openai.chat", raw)
            parts = Redactor(settings).parts(message["parts"], "output")
            rebuilt = rebuild_message("openai.chat", "assistant", "", parts)
            assert list(rebuilt) == ["content", "role", "tool_calls"]
            assert list(rebuilt["tool_calls"][0]) == ["id", "function", "type"]
            arguments = json.loads(rebuilt["tool_calls"][0]["function"]["arguments"])
            assert arguments == {"api_key": "[REDACTED:apikey]"}
            assert "abc" not in json.dumps(parts)


def test_masks_can_be_switched_off() -> None:
    """With mask_secrets=False and no hook nothing is changed."""
    redactor = Redactor(Settings(mask_secrets=False))
    assert not redactor.active
    assert redactor.text(SECRETS[0][1], "input") == SECRETS[0][1]


def test_the_hook_sees_every_text_after_the_masks() -> None:
    """The hook gets the masked text and what it is; None drops the text."""
    seen: list[tuple[str, str]] = []

    def hook(text: str, where: str) -> str | None:
        seen.append((text, where))
        return None if "drop" in text else text.replace("Alice", "<name>")

    redactor = Redactor(Settings(redact=hook))
    value = {"role": "user", "content": ["I am Alice", "drop me", SECRETS[0][1]]}
    assert redactor.value(value, "input") == {
        "role": "user",
        "content": ["I am <name>", DROPPED, "[REDACTED:anthropic_api_key]"],
    }
    assert seen == [
        ("I am Alice", "input"),
        ("drop me", "input"),
        ("[REDACTED:anthropic_api_key]", "input"),
    ]


@pytest.mark.tests_internal_errors
@pytest.mark.parametrize("failure", ["raises", "returns a number", "recurses"])
def test_a_failing_hook_fails_closed(counted: dict[str, int], failure: str) -> None:
    """The marker stands instead of the raw text, and the failure is counted."""

    def hook(text: str, where: str) -> str | None:
        if failure == "raises":
            raise ValueError(text)
        if failure == "recurses":
            return hook(text, where)
        return 5  # type: ignore[return-value]  # pyright: ignore[reportReturnType]

    redactor = Redactor(Settings(redact=hook))
    assert redactor.text("my canary", "attribute:user.note") == FAILED
    assert redactor.value({"content": "my canary"}, "input") == {"content": FAILED}
    assert errors.counts() == {"redact (attribute)": 1, "redact (input)": 1}


def test_what_is_too_deep_fails_closed(counted: dict[str, int]) -> None:
    """A cycle ends in the marker, not in a raw text or an error."""
    value: list[Any] = ["canary"]
    value.append(value)
    redacted = Redactor(Settings(redact=lambda text, where: "x")).value(value, "input")
    assert "canary" not in repr(redacted)


def test_ordinary_text_is_scanned_quickly() -> None:
    """30 KB of prose cost a small multiple (20 here) of reading it once, not the square of it."""
    text = (
        "the customer asked for a refund of the order, and the agent explained why not. " * 400
    )[:30_000]

    def fastest(scan: Any) -> float:
        best = float("inf")
        for _ in range(20):
            start = time.thread_time()
            scan()
            best = min(best, time.thread_time() - start)
        return best

    assert fastest(lambda: find_secrets(text)) < 100 * fastest(lambda: text.lower())


def test_everything_below_a_key_that_names_a_secret_is_masked() -> None:
    """Whatever its type and however the key is written; what tells nothing stays."""
    redactor = Redactor(Settings())
    for key in ("API_KEY", "dbPassword", "client-secret", "passwd", "pwd", "token", "passphrase"):
        for value in (12345, 1.5, ["a", "b"], {"a": {"b": 1}}, b"abc", ("a",), {"a"}):
            masked = redactor.value({"x": [{key: value}]}, "tool_arguments")
            assert masked["x"][0][key].startswith("[REDACTED:"), (key, value)
        empty: tuple[Any, ...] = (None, True, "", [], {})
        for nothing in empty:
            assert redactor.value({key: nothing}, "tool_arguments") == {key: nothing}
    for key in ("max_tokens", "token_count", "next_page_token", "tokenizer", "cache_key", "author"):
        assert redactor.value({key: "abc"}, "parameters") == {key: "abc"}


def test_a_tools_schema_and_a_replys_tokens_are_no_secrets() -> None:
    """Definitions of arguments named like secrets stay, but not their defaults; so do logprobs."""
    redactor = Redactor(Settings())
    schema = {"properties": {"password": {"type": "string", "description": "the password"}}}
    assert redactor.value(schema, "tool_definitions") is schema
    default = {"properties": {"password": {"type": "string", "default": "hunter2"}}}
    assert "hunter2" not in str(redactor.value(default, "tool_definitions"))
    tokens = {"content": [{"token": "Hello", "logprob": -0.1, "bytes": [72], "top_logprobs": []}]}
    assert redactor.value(tokens, "output") == tokens


def test_a_key_that_hints_masks_what_looks_random() -> None:
    """Under ``openai_auth`` or ``datadog_id`` it is the value that tells."""
    redactor = Redactor(Settings())
    value = {"cloud_auth": _A[:32], "datadog_id": _HEX[:40], "auth_mode": "none", "api": "v1beta"}
    assert redactor.value(value, "tool_arguments") == {
        "cloud_auth": "[REDACTED:generic]",
        "datadog_id": "[REDACTED:datadog-access-token]",
        "auth_mode": "none",
        "api": "v1beta",
    }


def test_attributes_are_masked_by_their_names() -> None:
    """Of spans, events and resources, alone and in lists."""
    redactor = Redactor(Settings())
    assert redactor.attributes(
        {"db.password": "x", "http.request.header.authorization": ("Token a",), "user.id": "x"}
    ) == {
        "db.password": "[REDACTED:password]",
        "http.request.header.authorization": ("[REDACTED:authorization]",),
        "user.id": "x",
    }
    assert redactor.text("abc", "resource:service.api_key") == "[REDACTED:apikey]"


@pytest.mark.parametrize("place", range(1_900, 2_100, 7))
@pytest.mark.parametrize("kind", ["shape", "url", "pem", "jwt", "named"])
def test_a_secret_across_the_cut_leaves_nothing(kind: str, place: int) -> None:
    """A long error is cut before it is masked; a secret on the cut is masked as a whole."""
    secret = {
        "shape": "ghp_" + _A[:36],
        "url": f"postgres://app:{_A[:30]}@db/x",
        "pem": _PEM,
        "jwt": f"ey{_A[:20]}.ey{_A * 80}.{_A[:43]}",
        "named": f'password="{_A[:40]}"',
    }[kind]
    text = "word " * (place // 5) + secret + " more" * 40_000
    cut = Redactor(Settings()).beginning(text, "error", 2_000)
    assert len(cut) <= 2_000
    assert not any(_A[at : at + 12] in cut for at in range(40))
    behind = Redactor(Settings()).ending(
        "more " * 40_000 + secret + " word" * (place // 5), "error", 2_000
    )
    assert len(behind) <= 2_000
    assert not any(_A[at : at + 12] in behind for at in range(40))


def test_a_long_error_costs_the_calling_thread_what_is_kept_of_it() -> None:
    """Megabytes of hostile text are searched only as far as the message is kept."""
    error = ValueError("://a:" * 1_000_000)
    begun = time.thread_time()
    text = error_text(error, 2_000)
    assert len(text) <= 2_000
    assert time.thread_time() - begun < 0.2


_OPAQUE = "Eq" + "sk-" + _A + "+/" + "AKIA" + "IOSFODNN7EXAMPL2" + "=="
_HELD: list[tuple[str, dict[str, Any]]] = [
    ("gemini", {"parts": [{"text": "x", "thoughtSignature": _OPAQUE}], "role": "model"}),
    (
        "gemini",
        {
            "parts": [{"functionCall": {"args": {}, "name": "f"}, "thought_signature": _OPAQUE}],
            "role": "model",
        },
    ),
    (
        "anthropic.messages",
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "x", "signature": _OPAQUE},
                {"type": "redacted_thinking", "data": _OPAQUE},
            ],
        },
    ),
    ("openai.responses", {"type": "reasoning", "summary": [], "encrypted_content": _OPAQUE}),
    ("openai.responses", {"encrypted_content": _OPAQUE, "type": "compaction", "id": "c"}),
]


@pytest.mark.parametrize(("dialect", "raw"), _HELD)
def test_opaque_values_of_providers_come_back_exactly(dialect: str, raw: dict[str, Any]) -> None:
    """In the parts, and in the provider's own form."""
    redactor = Redactor(Settings(redact=lambda text, where: text.replace("IOSF", "****")))
    message = convert_message(dialect, raw)
    parts, role = message["parts"], str(message["role"])
    assert redactor.parts(parts, "output", role) == parts
    assert json.loads(redactor.source(json.dumps(raw), "output", role)) == raw


@pytest.mark.parametrize("key", ["signature", "thoughtSignature", "encrypted_content", "data"])
def test_a_secret_under_such_a_key_elsewhere_is_masked(key: str) -> None:
    """In a tool's arguments or results, whatever type the object claims, and in no word at all."""
    secret = "sk-" + _A[:48]
    redactor = Redactor(Settings())
    for kind in ("reasoning", "thinking", "redacted_thinking"):
        held: Any = {"type": kind, key: secret, "content": [{"type": kind, key: secret}]}
        for part in (
            {"type": "tool_call", "name": "f", "arguments": held},
            {"type": "tool_call_response", "response": held},
            {"type": "text", "content": f"my key is {secret}"},
            {"type": "reasoning", key: f"it says: {secret}"},
        ):
            assert secret not in str(redactor.parts([part], "input", "assistant")), part
            source = json.dumps({"content": [part]})
            assert secret not in redactor.source(source, "input", "assistant")
        result = {"type": "tool_result", "content": [held]}
        source = json.dumps({"content": [result]})
        assert secret not in redactor.source(source, "input", "assistant")
        assert secret not in str(redactor.value(held, "tool_arguments"))


NOT_MODELS: list[Any] = [
    *("user", "tool", "system", "developer", "function", "human", "User", ""),
    *(7, None, ["assistant"], {"a": "b"}),
]


@pytest.mark.parametrize("role", NOT_MODELS, ids=repr)
def test_only_a_models_message_has_opaque_values(role: Any) -> None:
    """A secret under a provider's key is masked as anywhere else, whatever a stranger calls the
    role, and the role's type is no error."""
    secret = "sk-ant-" + "api03-" + "aB3dE6gH9j" * 5
    redactor = Redactor(Settings())
    part: Any = {"type": "reasoning", "content": "x", "signature": secret}
    odd: Any = {"type": ["reasoning"], "encrypted_content": secret}
    assert secret not in str(redactor.parts([part, odd], "input", role))
    assert secret not in str(redactor.parts([part], "system"))
    assert secret not in str(redactor.messages([{"role": role, "parts": [part]}], "input"))
    message = {"role": role, "content": [{"type": "thinking", "signature": secret}]}
    inner = {"role": "assistant", "content": [message]}
    for one in (message, odd, part):
        assert secret not in redactor.source(json.dumps(one), "input", role)
    assert secret not in redactor.source(json.dumps(inner), "output", "assistant")


@pytest.mark.parametrize("role", ["assistant", "model"])
def test_a_models_message_keeps_them(role: str) -> None:
    """In its own parts, in the provider's writing, and in an item that names no role."""
    value = "sk-ant-" + "api03-" + "aB3dE6gH9j" * 5
    redactor = Redactor(Settings())
    part: Any = {"type": "reasoning", "content": "x", "signature": value}
    assert redactor.parts([part], "output", role) == [part]
    item = {"type": "reasoning", "encrypted_content": value}
    assert json.loads(redactor.source(json.dumps(item), "output", role)) == item
    message = {"role": role, "content": [{"type": "thinking", "signature": value}]}
    assert json.loads(redactor.source(json.dumps(message), "output", role)) == message
