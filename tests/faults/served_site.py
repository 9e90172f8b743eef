"""The whole site as one command starts it, and clients that hand in and come back for their verdicts."""

import contextlib
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from pathlib import Path

from graders.ledger.clock import Clocks
from graders.ledger.engines import open_reader

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


def kill_tree(pid: int) -> None:
    """As when the machine loses power: the process and all that it started, at once."""
    for one in [pid, *find_descendants(pid)]:
        # One that ended by itself meanwhile, or died with its parent, is as dead as it should be.
        with contextlib.suppress(ProcessLookupError):
            os.kill(one, signal.SIGKILL)


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
    """`python -m app serve` on a data folder and a port; or `site`, which starts no grader."""

    def __init__(self, data: Path, url: str, port: int, command: str = "serve", course: Path = COURSE) -> None:
        self.data = data
        self.url = url
        self.port = port
        # One machine plays a class here: the limits that would slow it down have tests of their own.
        lifted = {"UNWIND_RATE_FACTOR": "1000"}
        variables = {"UNWIND_DATA": str(data), "UNWIND_PORT": str(port), "UNWIND_COURSE": str(course)}
        self.serving = subprocess.Popen(
            [sys.executable, "-m", "app", command],
            cwd=ROOT,
            env={**os.environ, **variables, **lifted, "UNWIND_DATABASE_URL": url},
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

    def wait_until_said(self, words: str, seconds: float = 120) -> None:
        until = time.monotonic() + seconds
        while not any(words in line for line in self.said):
            assert self.serving.poll() is None, self.said
            assert time.monotonic() < until, self.said
            time.sleep(0.05)

    def wait_until_it_answers(self, seconds: float = 120) -> None:
        until = time.monotonic() + seconds
        while self.get("/healthz") != 200:
            assert self.serving.poll() is None, self.said
            assert time.monotonic() < until
            time.sleep(0.05)

    def get(self, path: str, cookie: str = "") -> int:
        """The status; 0 if there was no answer."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request("GET", path, headers={"cookie": cookie})
            answer = connection.getresponse()
            answer.read()
        except (OSError, HTTPException):
            return 0
        else:
            return answer.status
        finally:
            connection.close()

    def find_part(self, words: str) -> int:
        """The process of a part, by words of its command line."""
        for pid in find_descendants(self.serving.pid):
            if words.encode() in Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" "):
                return pid
        raise AssertionError(f"no process with {words}")

    def kill_whole(self) -> None:
        kill_tree(self.serving.pid)
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
    """A submission that one learner insists on: sent again with its key until it is accepted."""

    source: str = SOLUTION
    key: str = field(default_factory=lambda: secrets.token_hex(16))
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
                port,
                "POST",
                f"/api/exercises/{EXERCISE}/submissions",
                {"source": self.source, "idempotency_key": self.key},
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

    def open_stream(self, port: int, after: int = 0) -> "Stream":
        connection = HTTPConnection("127.0.0.1", port, timeout=60)
        headers = {"cookie": self.cookie, "last-event-id": str(after)}
        connection.request("GET", f"/api/submissions/{self.id}/events", headers=headers)
        return Stream(connection)

    def follow(self, port: int) -> list[str]:
        """The kinds of its events, to the end of the stream."""
        stream = self.open_stream(port)
        kinds = [event.kind for event in stream.read()]
        stream.close()
        return kinds


@dataclass(frozen=True)
class ServerEvent:
    seq: int
    kind: str
    data: str


class Stream:
    """An open event stream, read as far as it goes."""

    def __init__(self, connection: HTTPConnection) -> None:
        self._connection = connection
        self._response = connection.getresponse()
        assert self._response.status == 200

    def read(self) -> Iterator[ServerEvent]:
        """Whole events; one that is cut in the middle is not shown. Ends with the stream, however that ends."""
        fields: dict[str, str] = {}
        with contextlib.suppress(OSError, HTTPException):
            for raw in self._response:
                name, _, value = raw.decode().rstrip("\n").partition(": ")
                if name:
                    fields[name] = value
                elif "id" in fields:
                    yield ServerEvent(int(fields["id"]), fields["event"], fields["data"])
                    fields = {}

    def cut(self) -> None:
        """Cuts the connection, as a network does: the reader sees an end in the middle."""
        if self._connection.sock is not None:
            self._connection.sock.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._response.close()
        self._connection.close()


def query(url: str, statement: str) -> list[tuple[object, ...]]:
    reader = open_reader(url, Clocks())
    with reader.connect() as connection:
        rows = [tuple(row) for row in connection.exec_driver_sql(statement)]
    reader.dispose()
    return rows
