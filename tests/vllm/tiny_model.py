"""Writes a tiny vision-language model that vLLM serves: Qwen3-VL's architecture, random weights, and a few planted habits.

    python tiny_model.py FOLDER

What it says next depends, but for a little noise from everything before, on the last token alone: SUCCESSORS lists what follows what. Its
chat template ends a prompt in the token that starts the wanted habit: to a text with an image it replies (after a thought, where thinking
is on), to an image alone it repeats a word for ever, to a text alone it counts, which takes longer than a test waits. Offered a tool it
calls it once; asked for an `<answer>` it chooses A. So every way in which a call can end is at hand, on any processor. Run it in the
environment of vLLM (`make vllm-env`).
"""

from __future__ import annotations

import sys
from itertools import pairwise
from pathlib import Path

import torch
from planted import HABITS
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import (
    PreTrainedTokenizerFast,
    Qwen2VLImageProcessor,
    Qwen3VLConfig,
    Qwen3VLForConditionalGeneration,
    Qwen3VLProcessor,
    Qwen3VLVideoProcessor,
)

WORDING = Path(__file__).parents[2] / "generator" / "prompts"  # the texts that its vocabulary is made from
CONTEXT = 4096  # tokens
WIDTH = 64

END, PAD = "<|im_end|>", "<|endoftext|>"
IMAGE = ("<|vision_start|>", "<|image_pad|>", "<|vision_end|>")
SPECIAL = [PAD, "<|im_start|>", END, *IMAGE, "<|video_pad|>"]

SUCCESSORS = dict(pair for habit in HABITS for pair in pairwise(habit))

CHAT_TEMPLATE = """\
{%- set asked = namespace(text=false, image=false, tool=false, choice=false) -%}
{%- for message in messages -%}
<|im_start|>{{ message.role }}
{% for part in message.content -%}
{%- if part.type == 'text' -%}
{{ part.text }}
{%- if message.role == 'user' %}{% set asked.text = true %}{% endif -%}
{%- if '<tools>' in part.text %}{% set asked.tool = true %}{% endif -%}
{%- if '<tool_response>' in part.text %}{% set asked.tool = false %}{% endif -%}
{%- if '<answer>' in part.text %}{% set asked.choice = true %}{% endif -%}
{%- else -%}
<|vision_start|><|image_pad|><|vision_end|>{% set asked.image = true -%}
{%- endif -%}
{%- endfor -%}
<|im_end|>
{% endfor -%}
{%- if add_generation_prompt -%}
<|im_start|>assistant
{% if asked.tool %}<call>
{%- elif asked.choice %}<choose>
{%- elif not asked.text %}<loop>
{%- elif not asked.image %}<count>
{%- elif enable_thinking is defined and not enable_thinking %}<think></think>
{%- else %}<think>
{%- endif -%}
{%- endif -%}
"""


def tokenizer() -> PreTrainedTokenizerFast:
    """Byte pairs of the prompts' wording, and a token for each thing that it has a habit of saying."""
    pairs = Tokenizer(models.BPE())
    pairs.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    pairs.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    training = trainers.BpeTrainer(vocab_size=1024, initial_alphabet=alphabet, special_tokens=SPECIAL, show_progress=False)
    pairs.train_from_iterator((path.read_text(encoding="utf-8") for path in sorted(WORDING.glob("*.toml"))), training)
    said = dict.fromkeys(token for habit in HABITS for token in habit if token not in SPECIAL)
    pairs.add_tokens([AddedToken(token, normalized=False) for token in said])
    extra = [token for token in SPECIAL if token not in (END, PAD)]
    return PreTrainedTokenizerFast(
        tokenizer_object=pairs,
        eos_token=END,
        pad_token=PAD,
        additional_special_tokens=extra,
        model_max_length=CONTEXT,
        chat_template=CHAT_TEMPLATE,
    )


def config(words: PreTrainedTokenizerFast) -> Qwen3VLConfig:
    """Two layers of text, two of vision. Weights are small beside the embeddings, so that the last token outweighs the rest."""
    start, image, end, video = words.convert_tokens_to_ids([*IMAGE, "<|video_pad|>"])
    rope = {"rope_type": "default", "rope_theta": 10_000.0, "mrope_section": [8, 4, 4], "mrope_interleaved": True}
    common = {"hidden_size": WIDTH, "intermediate_size": 2 * WIDTH, "initializer_range": 0.05}
    text = {
        "vocab_size": len(words),
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "num_key_value_heads": 1,
        "head_dim": WIDTH // 2,
        "max_position_embeddings": CONTEXT,
        "rope_parameters": rope,
        "eos_token_id": words.eos_token_id,
        "pad_token_id": words.pad_token_id,
        "tie_word_embeddings": False,
    }
    vision = {
        "depth": 2,
        "num_heads": 2,
        "out_hidden_size": WIDTH,
        "patch_size": 16,
        "num_position_embeddings": 64,
        "deepstack_visual_indexes": [0],
    }
    return Qwen3VLConfig(
        image_token_id=image,
        video_token_id=video,
        vision_start_token_id=start,
        vision_end_token_id=end,
        tie_word_embeddings=False,
        text_config={**common, **text},
        vision_config={**common, **vision},
    )


@torch.no_grad()
def plant(model: Qwen3VLForConditionalGeneration, words: PreTrainedTokenizerFast) -> None:
    """Turn each successor's row of the output layer towards the embedding of what it follows."""
    embedded, said = model.get_input_embeddings().weight, model.get_output_embeddings().weight
    embedded.normal_()
    said.normal_(std=0.2)
    for now, then in SUCCESSORS.items():
        now_id, then_id = words.convert_tokens_to_ids([now, then])
        said[then_id] += 5 * embedded[now_id] / embedded[now_id].norm()


def write(folder: Path) -> None:
    """The checkpoint, its tokenizer and its processor, as `vllm serve FOLDER` reads them."""
    words = tokenizer()
    pixels = {"shortest_edge": 32 * 32, "longest_edge": 256 * 256}  # of an image in all: at most 64 tokens
    patches = {"patch_size": 16, "temporal_patch_size": 2, "merge_size": 2, "size": pixels}
    Qwen3VLProcessor(
        image_processor=Qwen2VLImageProcessor(**patches),
        tokenizer=words,
        video_processor=Qwen3VLVideoProcessor(**patches),
        chat_template=CHAT_TEMPLATE,
    ).save_pretrained(folder)
    torch.manual_seed(0)
    model = Qwen3VLForConditionalGeneration(config(words)).to(torch.float32)
    plant(model, words)
    model.generation_config.eos_token_id = words.eos_token_id
    model.generation_config.pad_token_id = words.pad_token_id
    model.save_pretrained(folder)


if __name__ == "__main__":
    write(Path(sys.argv[1]))
