"""A proxy before the website is killed and started again: streams go on, and what is sent again is one submission."""

import shutil
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from fault_parts import Workers
from served_site import Answer, RunningSite, find_free_port, kill_tree, query

pytestmark = [pytest.mark.slow, pytest.mark.nightly]

NGINX = shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/bin")
LEARNERS = 20
KILLS = 4
CONFIGURATION = """
daemon off;
pid {folder}/pid;
error_log {folder}/errors;
events {{}}
http {{
  access_log off;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  server {{
    listen 127.0.0.1:{port};
    location / {{
      proxy_pass http://127.0.0.1:{site};
      proxy_http_version 1.1;
      proxy_set_header Host $host;
      proxy_buffering off;
    }}
  }}
}}
"""


class Proxy:
    def __init__(self, folder: Path, site: int) -> None:
        assert NGINX
        folder.mkdir()
        self.port = find_free_port()
        self._file = folder / "nginx.conf"
        self._file.write_text(CONFIGURATION.format(folder=folder, port=self.port, site=site))
        self.start()

    def start(self) -> None:
        self._running = subprocess.Popen([str(NGINX), "-c", str(self._file)], stderr=subprocess.DEVNULL)

    def kill(self) -> None:
        kill_tree(self._running.pid)
        self._running.wait()


@pytest.fixture
def site(tmp_path: Path, database_url: str) -> Iterator[RunningSite]:
    site = RunningSite(tmp_path, database_url, find_free_port(), "site")
    try:
        site.wait_until_it_answers()
        yield site
    finally:
        site.close()


@pytest.fixture
def proxy(site: RunningSite, tmp_path: Path) -> Iterator[Proxy]:
    if NGINX is None:
        pytest.skip("nginx is not installed here (Debian, Ubuntu: apt install nginx-light)")
    proxy = Proxy(tmp_path / "nginx", site.port)
    yield proxy
    proxy.kill()


def insist(port: int, until: float) -> tuple[list[int], Answer]:
    """Hand in until it is accepted, and follow it to its end, as a browser does: again after each cut."""
    answer = Answer("count 30 0.1")
    while not answer.cookie and time.monotonic() < until:
        try:
            answer.begin(port)
        except (OSError, AssertionError):
            time.sleep(0.1)
    while not answer.send(port) and time.monotonic() < until:
        time.sleep(0.1)
    seen: list[int] = []
    kind = ""
    while kind != "finished" and time.monotonic() < until:
        try:
            stream = answer.open_stream(port, after=seen[-1] if seen else 0)
        except (OSError, AssertionError):
            time.sleep(0.1)
            continue
        for event in stream.read():
            seen.append(event.seq)
            kind = event.kind
        stream.close()
    return seen, answer


def test_a_proxy_that_is_killed_again_and_again_loses_no_event_and_doubles_no_submission(
    site: RunningSite, proxy: Proxy, tmp_path: Path
) -> None:
    workers = Workers(tmp_path, site.url)
    for name in ("first", "second"):
        workers.start_worker(name)
    stopping, kills, until = threading.Event(), 0, time.monotonic() + 120

    def kill_again() -> None:
        nonlocal kills
        while not stopping.wait(1.5):
            proxy.kill()
            time.sleep(0.3)
            proxy.start()
            kills += 1

    killing = threading.Thread(target=kill_again)
    killing.start()
    try:
        with ThreadPoolExecutor(LEARNERS) as learners:
            told = list(learners.map(lambda _: insist(proxy.port, until), range(LEARNERS)))
    finally:
        stopping.set()
        killing.join()
        workers.end_workers()
    assert kills >= KILLS
    assert [seen for seen, _ in told] == [list(range(1, len(seen) + 1)) for seen, _ in told]
    ends = Counter(row[0] for row in query(site.url, "SELECT submission FROM events WHERE kind = 'finished'"))
    assert ends == Counter(answer.id for _, answer in told)
    sys.stdout.write(f"{kills} kills; {sum(len(seen) for seen, _ in told)} events of {len(told)} submissions\n")
