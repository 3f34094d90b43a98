"""Runs the services of the Compose example without containers: run_compose.py DIRECTORY

The commands, the variables, and the health check are those of the file. Only the addresses differ: the
ports of containers become one free port of this machine. What containers add (images, networks, users) is
not tested.
"""

import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from ruamel.yaml import YAML

directory = Path(sys.argv[1])
services = YAML(typ="safe").load(directory / "compose.yaml")["services"]
with socket.create_server(("127.0.0.1", 0)) as listener:
    address = f"127.0.0.1:{listener.getsockname()[1]}"


def here(text):
    """Replaces the addresses of containers."""
    for host in ("market:8080", "0.0.0.0:8080", "127.0.0.1:8080"):
        text = text.replace(host, address)
    return text


def variables(service):
    own = {name: here(value) for name, value in service["environment"].items()}
    return {**os.environ, **own}


def run(service, command, output=None):
    parts = [here(part) for part in command]
    return subprocess.run(parts, cwd=directory, env=variables(service), stdout=output).returncode


market, tests = services["market"], services["tests"]
log = tempfile.TemporaryFile("w+")
command = [here(part) for part in market["command"]]
server = subprocess.Popen(command, env=variables(market), stdout=subprocess.DEVNULL, stderr=log)
code = 1
try:
    check = market["healthcheck"]
    for _ in range(check["retries"]):
        if run(market, check["test"][1:], subprocess.DEVNULL) == 0:
            break
        assert server.poll() is None, "the market has ended"
        time.sleep(1)
    else:
        raise TimeoutError("the market did not become healthy")
    code = run(tests, tests["command"])
finally:
    server.terminate()
    server.wait()
    if code != 0:
        log.seek(0)
        print(log.read())
assert server.returncode == 0, f"the market ended with {server.returncode}"
sys.exit(code)
