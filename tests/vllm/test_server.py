"""What the generator and the views rely on in vLLM's server, asked of a real one."""

import asyncio
import base64
import io
import json
import math
from typing import Any

import httpx
import pytest
from PIL import Image

from generator.client import Client, Reply, metadata
from generator.grid import REPETITION_DETECTION
from generator.reply import spoken
from tests.vllm.conftest import Server
from tests.vllm.planted import REPLY

QUESTION = {"type": "text", "text": "Which option is correct?"}
LETTERS = "ABCD"


def picture(colour: str) -> dict[str, Any]:
    encoded = io.BytesIO()
    Image.new("RGB", (96, 64), colour).save(encoded, "PNG")
    return {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{base64.b64encode(encoded.getvalue()).decode()}"}}


def chat(server: Server, *parts: dict[str, Any], **fields: Any) -> Reply:
    """The reply to a user message, asked for as a study asks."""
    body = {
        "model": server.model,
        "messages": [{"role": "system", "content": "Answer."}, {"role": "user", "content": list(parts)}],
        "temperature": 0.0,
        "max_tokens": 200,
        "seed": 0,
        "chat_template_kwargs": {"enable_thinking": False},
        "repetition_detection": REPETITION_DETECTION,
    }
    return post(server, body | fields)


def post(server: Server, body: dict[str, Any]) -> Reply:
    async def send() -> Reply:
        async with Client(server.base_url, identity=server.identity) as client:
            return await client.post(body)

    return asyncio.run(send())


def choice(reply: Reply) -> dict[str, Any]:
    assert reply.http_status == 200, reply
    (found,) = json.loads(reply.body or b"")["choices"]
    assert isinstance(found, dict)
    return found


def test_the_server_says_who_it_is(server: Server) -> None:
    assert server.identity == {"provider": "vllm", "engine": "vllm", "engine_version": "0.32.0", "precision": "fp32"}


def test_a_chat_with_an_image_is_answered_with_its_metadata(server: Server) -> None:
    reply = chat(server, picture("red"), QUESTION)
    assert choice(reply)["finish_reason"] == "stop"
    assert choice(reply)["message"]["content"] == REPLY
    told = metadata(reply)
    without = metadata(chat(server, QUESTION))
    assert told["prompt_tokens"] > without["prompt_tokens"] + 2  # the image is more than its two marks
    assert {name: told[name] for name in server.identity} == server.identity
    assert (told["served_model"], told["completion_tokens"], told["cost_usd"]) == (server.model, 2, None)
    assert told["generation_id"].startswith("chatcmpl-")


def test_thinking_is_on_or_off_as_asked(server: Server) -> None:
    for thinking, thought in ((False, ""), (True, " hm</think>")):
        reply = chat(server, picture("red"), QUESTION, chat_template_kwargs={"enable_thinking": thinking})
        said = spoken(reply)
        assert said
        assert (said.text, said.is_cut) == (thought + REPLY, False)


def test_a_loop_is_ended_by_the_detector_as_the_grid_sets_it(server: Server) -> None:
    for looping, tokens in (([picture("red")], 16), ([QUESTION], 5 * 16)):  # a pattern of one token, and one of five
        reply = chat(server, *looping)
        assert (choice(reply)["finish_reason"], choice(reply)["stop_reason"]) == ("repetition", "repetition_detected")
        assert metadata(reply)["completion_tokens"] == tokens
    without = {"repetition_detection": None, "max_tokens": 100}
    assert choice(chat(server, picture("red"), **without))["finish_reason"] == "length"


def test_an_answer_that_outgrows_its_budget_is_cut(server: Server) -> None:
    reply = chat(server, QUESTION, max_tokens=64)
    assert choice(reply)["finish_reason"] == "length"
    said = spoken(reply)
    assert said
    assert said.is_cut


def test_an_error_of_the_server_carries_who_made_it(server: Server) -> None:
    reply = chat(server, QUESTION, max_tokens=5000)
    assert reply.http_status == 400
    assert {name: metadata(reply)[name] for name in server.identity} == server.identity


# -- log-probabilities of options --------------------------------------------------------------------------------------------------


def ids(server: Server) -> list[int]:
    """The token of each letter."""
    url = f"{server.base_url.removesuffix('/v1')}/tokenize"
    found = [httpx.post(url, json={"model": server.model, "prompt": letter, "add_special_tokens": False}).json() for letter in LETTERS]
    assert all(len(each["tokens"]) == 1 for each in found)
    return [each["tokens"][0] for each in found]


def next_token(server: Server, colour: str, **fields: Any) -> dict[str, float]:
    """The log-probabilities that the server gives after `<answer>`, by token."""
    messages = [{"role": "user", "content": [picture(colour), QUESTION]}, {"role": "assistant", "content": "I see. <answer>"}]
    fixed = {"continue_final_message": True, "add_generation_prompt": False, "return_tokens_as_token_ids": True}
    body = {"model": server.model, "messages": messages, "max_tokens": 1, "logprobs": True, **fixed, **fields}
    ((first,),) = [choice(post(server, body))["logprobs"]["content"]]
    return {each["token"]: each["logprob"] for each in first["top_logprobs"]}


@pytest.mark.parametrize("temperature", [0.0, 1.3])
def test_the_soft_max_over_the_options_is_that_of_the_full_vocabulary(server: Server, temperature: float) -> None:
    tokens = ids(server)
    asked = next_token(server, "red", logprob_token_ids=tokens, temperature=temperature)
    full = next_token(server, "red", top_logprobs=-1, temperature=temperature)
    assert len(full) > 1000
    assert math.fsum(map(math.exp, full.values())) == pytest.approx(1, abs=1e-6)
    found = soft_max([asked[f"token_id:{token}"] for token in tokens])
    assert found == pytest.approx(soft_max([full[f"token_id:{token}"] for token in tokens]), abs=1e-9)
    assert max(found) - min(found) > 0.01


def test_the_options_depend_on_what_the_image_shows(server: Server) -> None:
    tokens = ids(server)
    red, blue = (next_token(server, colour, logprob_token_ids=tokens) for colour in ("red", "blue"))
    assert max(abs(red[f"token_id:{token}"] - blue[f"token_id:{token}"]) for token in tokens) > 1e-3


def soft_max(logprobs: list[float]) -> list[float]:
    weights = [math.exp(each) for each in logprobs]
    return [weight / math.fsum(weights) for weight in weights]
