"""The sets train models: a step of each of TRL's trainers, on a tiny model made here."""

from __future__ import annotations

import copy
import math
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer, decoders
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel

# Of an environment of their own, in which the type checkers do not look.
datasets: Any = import_module("datasets")
torch: Any = import_module("torch")
transformers: Any = import_module("transformers")
trl: Any = import_module("trl")
data_utils: Any = import_module("trl.data_utils")

SETS = Path(__file__).resolve().parents[2] / "build" / "sets"
KINDS = ("sft", "preference", "kto", "reward", "cot")
LINES = 8
BYTES = 258
"""Tokens: a byte each, and two ends."""
TEMPLATE = """\
{%- if tools %}{{ '<tools>' }}{% for tool in tools %}{{ tool | tojson }}{% endfor %}{% endif %}
{%- for message in messages %}{{ '<' + message.role + '>' }}
{%- if message.role == 'assistant' %}{% generation %}
{%- if message.reasoning_content %}{{ '<think>' + message.reasoning_content }}{% endif %}
{{- message.content or '' }}
{%- for call in message.tool_calls or [] %}{{ '<call>' + call.function.name }}
{{- call.function.arguments | tojson }}{% endfor %}{{ eos_token }}{% endgeneration %}
{%- else %}{{ message.content }}{{ eos_token }}{% endif %}{% endfor %}
{%- if add_generation_prompt %}{{ '<assistant>' }}{% endif %}"""


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(datasets.config, "HF_DATASETS_OFFLINE", True)
    torch.manual_seed(0)


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    """Every byte is a token, and the ends."""
    alphabet = sorted(ByteLevel.alphabet())
    words = Tokenizer(BPE({token: at for at, token in enumerate(alphabet)}, []))
    words.pre_tokenizer = ByteLevel(add_prefix_space=False)
    words.decoder = decoders.ByteLevel()
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=words, chat_template=TEMPLATE, eos_token="<eos>", pad_token="<pad>"
    )


def model(tokenizer: Any, made: str = "LlamaForCausalLM") -> Any:
    """Two layers of sixteen numbers."""
    config = transformers.LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        max_position_embeddings=4096,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        num_labels=1,
    )
    return getattr(transformers, made)(config)


def lines(kind: str, tmp_path: Path) -> Any:
    """A set as `datasets` loads it, without images: the model is one of texts."""
    found = datasets.load_dataset(str(SETS / kind / "trl"), split="train", cache_dir=str(tmp_path))
    return found.filter(_has_texts_only)


def _has_texts_only(line: dict[str, Any]) -> bool:
    return all(isinstance(message["content"], str) for message in line["prompt"])


@pytest.mark.parametrize("kind", KINDS)
def test_trl_takes_every_line(kind: str, tmp_path: Path, tokenizer: Any) -> None:
    """It knows them as conversations, and writes them by a chat template as the completion of their
    prompt."""
    found = lines(kind, tmp_path)
    sides = ("chosen", "rejected") if kind == "preference" else ("completion",)
    wanted = {"prompt", *sides, *(("label",) if kind == "kto" else ())}

    assert len(found) > LINES
    for line in found:
        assert data_utils.is_conversational(line)
        given: dict[str, Any] = {name: line[name] for name in wanted}
        written = data_utils.apply_chat_template(given, tokenizer, tools=line["tools"])
        assert set(written) == wanted
        assert written["prompt"].endswith("<assistant>")
        for side in sides:
            assert line[side][-1]["content"] in written[side]
            assert written[side].endswith("<eos>")


def test_trl_makes_single_answers_of_pairs(tmp_path: Path) -> None:
    """Two of each pair, one of them good."""
    found = lines("preference", tmp_path)
    single = data_utils.unpair_preference_dataset(
        found.select_columns(["prompt", "chosen", "rejected"])
    )
    assert single["label"].count(True) == single["label"].count(False) == len(found)


def train(trainer: str, kind: str, made: str, tmp_path: Path, tokenizer: Any) -> Any:
    """A trainer of one step."""
    # What tools answered is in the completions, and not the model's to learn.
    settings = {"assistant_only_loss": True} if trainer == "SFT" else {}
    config = getattr(trl, f"{trainer}Config")(
        output_dir=str(tmp_path / "out"),
        max_steps=1,
        per_device_train_batch_size=LINES,
        learning_rate=0.1,
        logging_steps=1,
        save_strategy="no",
        report_to=[],
        use_cpu=True,
        disable_tqdm=True,
        activation_checkpointing=False,
        **settings,
    )
    found = lines(kind, tmp_path)
    trained = model(tokenizer, made)
    # Without one, these load what the model was before it was trained: by a name that it has not.
    compared = {"ref_model": copy.deepcopy(trained)} if trainer in ("DPO", "KTO") else {}
    return getattr(trl, f"{trainer}Trainer")(
        model=trained,
        args=config,
        train_dataset=found.remove_columns("source"),
        processing_class=tokenizer,
        **compared,
    )


CAUSAL, SCORING = "LlamaForCausalLM", "LlamaForSequenceClassification"


@pytest.mark.parametrize(
    ("trainer", "kind", "made", "loss"),
    [
        ("SFT", "sft", CAUSAL, math.log(BYTES)),
        ("SFT", "cot", CAUSAL, math.log(BYTES)),
        ("DPO", "preference", CAUSAL, math.log(2)),
        ("KTO", "kto", CAUSAL, 0.5),
        ("Reward", "preference", SCORING, math.log(2)),
    ],
)
def test_a_step_of_training(
    trainer: str, kind: str, made: str, loss: float, tmp_path: Path, tokenizer: Any
) -> None:
    """The loss is that of a model that knows nothing yet, and the weights are others afterwards."""
    training = train(trainer, kind, made, tmp_path, tokenizer)
    before = {name: value.detach().clone() for name, value in training.model.named_parameters()}

    result = training.train()

    assert result.global_step == 1
    assert result.training_loss == pytest.approx(loss, rel=0.02)
    changed = [
        name
        for name, value in training.model.named_parameters()
        if not torch.equal(before[name], value)
    ]
    assert changed
