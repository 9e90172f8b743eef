"""The whole site as one command starts it, and clients that hand in and come back for their verdicts."""

import json
import os
import secrets
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COURSE = ROOT / "tests" / "course"
EXERCISE = "double"
SOLUTION = (COURSE / "exercises" / EXERCISE / "solution.py").read_text()


def find_free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


def find_descendants(pid: int) -> list[int]:
    listed = Path(f"/proc/{pid}/task").glob("*/children")
    children = [int(child) for file in listed for child in file.read_text().split()]
    return [found for child in children for found in (child, *find_descendants(child))]


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def wait_until_dead(pids: list[int], seconds: float) -> list[int]:
    """Those still alive after so long."""
    until = time.monotonic() + seconds
    while (living := [pid for pid in pids if is_alive(pid)]) and time.monotonic() < until:
        time.sleep(0.05)
    return living


class RunningSite:
    """`python -m app serve` on a data folder and a port."""

    def __init__(self, data: Path, port: int) -> None:
        self.data = data
        self.port = port
        # One machine plays a class here: the limits that would slow it down have tests of their own.
        lifted = {"UNWIND_RATE_FACTOR": "1000"}
        variables = {"UNWIND_DATA": str(data), "UNWIND_PORT": str(port), "UNWIND_COURSE": str(COURSE), **lifted}
        self.serving = subprocess.Popen(
            [sys.executable, "-m", "app", "serve"],
            cwd=ROOT,
            env={**os.environ, **variables},
            stdout=subprocess.PIPE,
            text=True,
        )
        self.said: list[str] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.serving.stdout
        for line in self.serving.stdout:
            self.said.append(line.rstrip())

    def wait_until_said(self, words: str, seconds: float = 60) -> None:
        until = time.monotonic() + seconds
        while not any(words in line for line in self.said):
            assert self.serving.poll() is None, self.said
            assert time.monotonic() < until, self.said
            time.sleep(0.05)

    def find_part(self, words: str) -> int:
        """The process of a part, by words of its command line."""
        for pid in find_descendants(self.serving.pid):
            if words.encode() in Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" "):
                return pid
        raise AssertionError(f"no process with {words}")

    def kill_whole(self) -> None:
        """As when the machine loses power: every process at once."""
        for pid in [self.serving.pid, *find_descendants(self.serving.pid)]:
            os.kill(pid, signal.SIGKILL)
        self.close()

    def stop(self) -> int:
        self.serving.send_signal(signal.SIGTERM)
        return self.serving.wait(20)

    def close(self) -> None:
        if self.serving.poll() is None:
            self.stop()
        self.serving.wait()
        self._reader.join(10)
        assert self.serving.stdout
        self.serving.stdout.close()


@dataclass
class Answer:
    """A submission that one learner insists on: sent again with its token until it is accepted."""

    token: str = field(default_factory=lambda: secrets.token_hex(16))
    cookie: str = ""
    id: str = ""

    def begin(self, port: int) -> None:
        """Become a learner with a cookie, by keeping a draft: a learner is known before handing in."""
        self._ask(port, "PUT", f"/api/drafts/exercises/{EXERCISE}", {"text": "x"})
        assert self.cookie

    def send(self, port: int) -> bool:
        """True: it is accepted."""
        try:
            accepted = self._ask(
                port, "POST", f"/api/exercises/{EXERCISE}/submissions", {"source": SOLUTION, "token": self.token}
            )
        except (OSError, HTTPException):
            return False
        self.id = json.loads(accepted).get("id", "")
        return bool(self.id)

    def _ask(self, port: int, method: str, path: str, body: dict[str, str]) -> bytes:
        connection = HTTPConnection("127.0.0.1", port, timeout=30)
        try:
            headers = {"content-type": "application/json", "cookie": self.cookie}
            connection.request(method, path, json.dumps(body), headers)
            answer = connection.getresponse()
            self.cookie = answer.headers.get("set-cookie", self.cookie).split(";")[0]
            return answer.read()
        finally:
            connection.close()

    def open_stream(self, port: int) -> HTTPConnection:
        connection = HTTPConnection("127.0.0.1", port, timeout=60)
        connection.request("GET", f"/api/submissions/{self.id}/events", headers={"cookie": self.cookie})
        return connection

    def follow(self, port: int) -> list[str]:
        """The kinds of its events, to the end of the stream."""
        connection = self.open_stream(port)
        lines = connection.getresponse().read().decode().splitlines()
        connection.close()
        return [line.removeprefix("event: ") for line in lines if line.startswith("event: ")]


def query(data: Path, statement: str) -> list[tuple[object, ...]]:
    connection = sqlite3.connect(f"file:{data}/unwind.sqlite3?mode=ro", uri=True)
    rows = connection.execute(statement).fetchall()
    connection.close()
    return rows
