"""Stands in for the `vllm` command: the pages of vLLM's server that `generator.serve` reads, from a process that has a child of its own.

`FAKE` says how it behaves (`dies`, `never healthy`; else it serves), `FAKE_PIDS` where it writes its own process id and its child's,
`FAKE_PAGES` (JSON) what its pages say instead.
"""

import json
import os
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Pages(BaseHTTPRequestHandler):
    pages: dict[str, Any]

    def do_GET(self) -> None:
        page = self.pages.get(self.path.partition("?")[0])
        self.answer(404 if page is None else 200, page)

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        message = {"content": '{"answer": "even"}'}
        usage = {"prompt_tokens": 5, "completion_tokens": 2}
        self.answer(200, {"id": "1", "model": sys.argv[2], "choices": [{"finish_reason": "stop", "message": message}], "usage": usage})

    def answer(self, status: int, page: Any) -> None:
        body = json.dumps(page).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def main() -> None:
    print("arguments", sys.argv[1:], "key", os.environ.get("VLLM_API_KEY"), flush=True)
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    if pids := os.environ.get("FAKE_PIDS"):
        with open(pids, "a") as file:
            print(os.getpid(), child.pid, file=file)
    if os.environ.get("FAKE") == "dies":
        print("ERROR [core.py:1] ValueError: too little memory for the cache", file=sys.stderr)
        print("RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}", file=sys.stderr)
        print("leaked semaphore", file=sys.stderr)
        sys.exit(1)
    Pages.pages = {
        "/version": {"version": "0.99.0"},
        "/server_info": {"vllm_config": {"model_config": {"dtype": "torch.bfloat16", "quantization": None}}},
        "/v1/models": {"data": [{"id": sys.argv[2]}]},
        **({} if os.environ.get("FAKE") == "never healthy" else {"/health": {}}),
        **json.loads(os.environ.get("FAKE_PAGES", "{}")),
    }
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[sys.argv.index("--port") + 1])), Pages).serve_forever()


main()
