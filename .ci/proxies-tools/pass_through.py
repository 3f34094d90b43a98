"""Checks that everything a market serves passes through nginx and Caddy, with the example configurations.

Arguments: the program, an empty directory with `certificate.pem` and `key.pem`, the megabytes of the upload, and a command that uses
the web app at an address, if that is to be checked, too.
"""

import contextlib
import hashlib
import http.client
import json
import os
import pathlib
import re
import socket
import ssl
import subprocess
import sys
import time

EXAMPLES = pathlib.Path("packaging/proxies")
HOST = "market.example"
VENDOR = {"Authorization": "Bearer mkt_demo_vendor"}
BUYER = {"Authorization": "Bearer mkt_demo_buyer"}
OPERATOR = {"Authorization": "Bearer mkt_demo_operator"}
JSON = {"Content-Type": "application/json"}
# A listing of the demo market that waits for a review, and the team of the buyer's key.
LISTING = "ec363ec8-bc2c-5fba-adf4-afed3dea02b0"
BUYING_TEAM = "57d9aaca-90f7-528c-aff6-0b974cabd171"
CHUNK = bytes(range(256)) * 4096

# Seconds within which an event must arrive. A stream that is buffered says nothing for longer.
MAX_EVENT_SECONDS = 10


# Ports below those that the system gives to connections, so that one that is free stays free.
PORTS = iter(range(10_000 + os.getpid() % 20_000, 32_000))


def free_port():
    for port in PORTS:
        with contextlib.suppress(OSError), socket.socket() as probe:
            probe.bind(("127.0.0.1", port))
            return port
    raise OSError("no port is free")


def replace(text, replacements):
    """Replaces each text, which must be there."""
    for old, new in replacements.items():
        assert old in text, f"the example has no {old!r}"
        text = text.replace(old, new)
    return text


class Tls(http.client.HTTPSConnection):
    """A connection to a port of this machine by the name of the market."""

    def __init__(self, port, context):
        super().__init__(HOST, port, context=context, timeout=120)

    def connect(self):
        raw = socket.create_connection(("127.0.0.1", self.port), timeout=120)
        self.sock = self._context.wrap_socket(raw, server_hostname=HOST)


class Proxy:
    """A market behind a proxy, for a client."""

    def __init__(self, port, certificate):
        self.port = port
        self.context = ssl.create_default_context(cafile=certificate)

    def connect(self):
        return Tls(self.port, self.context)

    def send(self, method, path, headers={}, body=None):
        """Returns the status, the headers, and the body."""
        connection = self.connect()
        connection.request(method, path, body=body, headers=headers)
        response = connection.getresponse()
        answer = response.status, response.headers, response.read()
        connection.close()
        return answer

    def call(self, method, path, key, body=None, status=200):
        headers = key | JSON if body is not None else key
        found, _, text = self.send(method, path, headers, None if body is None else json.dumps(body))
        assert found == status, f"{method} {path}: {found} {text[:400]}"
        return json.loads(text) if text else None


def slices(megabytes):
    """Yields the bytes of an upload, which are never in memory at once."""
    for _ in range(megabytes):
        yield CHUNK


def wait_for(find, seconds=30):
    """Returns the first value that `find` returns, except none."""
    until = time.monotonic() + seconds
    while (found := find()) is None:
        assert time.monotonic() < until, "it does not happen"
        time.sleep(0.05)
    return found


def check_addresses(proxy, log):
    """Limits and logs know the client, whatever it writes into headers."""
    forged = {"X-Forwarded-For": "198.51.100.9", "Forwarded": "for=198.51.100.8", "X-Forwarded-Proto": "http"}
    status, _, _ = proxy.send("GET", "/v2/wallet", BUYER | forged | {"X-Request-ID": f"forged-{proxy.port}"})
    assert status == 200, status
    line = wait_for(lambda: next((l for l in log().splitlines() if f"forged-{proxy.port}" in l), None))
    assert "client=127.0.0.1 " in line and "198.51.100" not in line, line


def check_console(proxy):
    """Sessions work over https, with cookies that browsers send over https only."""
    form = {"Content-Type": "application/x-www-form-urlencoded", "Sec-Fetch-Site": "same-origin"}
    form |= {"Origin": f"https://{HOST}:{proxy.port}"}
    status, headers, text = proxy.send("POST", "/console/sign-in", form, "key=mkt_demo_buyer")
    assert status == 303, f"{status} {text[:400]}"
    cookie = headers["Set-Cookie"]
    assert cookie.startswith("__Host-") and "; Secure" in cookie, cookie
    status, _, text = proxy.send("GET", "/console/catalog", {"Cookie": cookie.split(";")[0]})
    assert status == 200 and b"<html" in text, status
    status, _, text = proxy.send("GET", "/")
    assert f"https://{HOST}:{proxy.port}".encode() in text, "links have the scheme and the port of the client"


def check_world(proxy):
    """Addresses of worlds pass through, and contain the address of the proxy."""
    world = proxy.call("POST", "/sandbox/v1/worlds", OPERATOR, {}, status=201)
    url = world["base_url"]
    assert url.startswith(f"https://{HOST}:{proxy.port}/w/"), url
    path = url.removeprefix(f"https://{HOST}:{proxy.port}")
    proxy.call("GET", f"{path}/v2/wallet", BUYER)
    return path


def check_events(proxy):
    """Events of a stream arrive at once, and the next request on another connection does not wait for the stream."""
    connection = proxy.connect()
    connection.request("GET", "/operator/v1/events", headers=OPERATOR | {"Accept": "text/event-stream"})
    response = connection.getresponse()
    assert response.status == 200, f"{response.status} {response.read()[:400]}"
    connection.sock.settimeout(MAX_EVENT_SECONDS)
    began = time.monotonic()
    team = {"name": f"Through {proxy.port}", "roles": ["buyer"]}
    team = proxy.call("POST", "/operator/v1/teams", OPERATOR, team, status=201)["id"].encode()
    line = b""
    while team not in line:
        line = response.readline()
        assert line, "the stream has ended"
    assert time.monotonic() - began < MAX_EVENT_SECONDS
    connection.close()


def check_upload(proxy, megabytes):
    """A large upload passes through."""
    team = proxy.call("GET", "/operator/v1/teams?limit=1", OPERATOR)["items"][0]["id"]
    plan = {"file_name": "large.zip", "size_bytes": megabytes * len(CHUNK)}
    upload = proxy.call("POST", f"/operator/v1/teams/{team}/uploads", OPERATOR, plan, status=201)
    began, origin, sent = time.monotonic(), f"https://{HOST}:{proxy.port}", 0
    data = slices(megabytes)
    rest = b""
    for part in upload["parts"]:
        size = int(part["headers"]["Content-Length"])

        def body(size=size):
            nonlocal rest
            while size:
                rest = rest or next(data)
                piece, rest = rest[:size], rest[size:]
                size -= len(piece)
                yield piece

        assert part["url"].startswith(origin), part["url"]
        status, _, text = proxy.send("PUT", part["url"].removeprefix(origin), part["headers"], body())
        assert status in (200, 201, 204), f"{status} {text[:400]}"
        sent += size
    received = proxy.call("GET", f"/operator/v1/uploads/{upload['id']}", OPERATOR)
    assert not received["parts"] and sent == plan["size_bytes"], received
    print(f"   {megabytes} MB in {len(upload['parts'])} parts: {time.monotonic() - began:.1f} s", flush=True)


def check_downloads(proxy):
    """Bundles and their ranges pass through."""
    for step in ("approve", "publish"):
        proxy.call("POST", f"/operator/v1/listings/{LISTING}/{step}", OPERATOR)
    purchase = {"team_id": BUYING_TEAM, "listing_id": LISTING, "kind": "full", "pay_with": "credits"}
    proxy.call("POST", "/operator/v1/purchases", OPERATOR, purchase, status=201)
    link = proxy.call("GET", f"/v2/listings/browse/{LISTING}", BUYER)["bundle_download_url"]
    path = link.removeprefix(f"https://{HOST}:{proxy.port}")
    assert path != link, link

    def download():
        """Returns the response, unless it says that the bundle is being prepared."""
        answer = proxy.send("GET", path)
        return None if answer[0] == 503 and "Retry-After" in answer[1] else answer

    status, headers, whole = wait_for(download)
    assert (status, headers["Accept-Ranges"]) == (200, "bytes"), f"{status} {whole[:400]}"
    assert len(whole) == int(headers["Content-Length"])
    middle = len(whole) // 2
    parts = []
    for wanted in (f"bytes=0-{middle}", f"bytes={middle + 1}-"):
        status, part_headers, part = proxy.send("GET", path, {"Range": wanted, "If-Range": headers["ETag"]})
        assert status == 206 and part_headers["Content-Range"].endswith(f"/{len(whole)}"), status
        parts.append(part)
    assert hashlib.sha256(b"".join(parts)).digest() == hashlib.sha256(whole).digest()


def check_early_answers(proxy):
    """The response to a large body that is refused before it has arrived reaches the client."""
    for key, path, expected in [({}, "/v2/codebases", 401), (VENDOR, "/v2/no/such/path", 404)]:
        connection = proxy.connect()
        connection.putrequest("POST", path)
        for name, value in (key | JSON | {"Content-Length": str(5 * len(CHUNK))}).items():
            connection.putheader(name, value)
        connection.endheaders()
        try:
            for _ in range(5):
                connection.send(CHUNK)
        except OSError:
            pass
        response = connection.getresponse()
        assert response.status == expected, response.status
        assert json.loads(response.read())["error"], path
        connection.close()


def check(proxy, log, megabytes):
    for step, arguments in [
        (check_addresses, [log]),
        (check_console, []),
        (check_world, []),
        (check_events, []),
        (check_early_answers, []),
        (check_downloads, []),
        (check_upload, [megabytes]),
    ]:
        print(f"   {step.__doc__.splitlines()[0]}", flush=True)
        step(proxy, *arguments)


def start_nginx(directory, port, market, certificate, key):
    """Starts nginx with the example. Returns the process."""
    example = replace(
        (EXAMPLES / "nginx.conf").read_text(),
        {
            "127.0.0.1:8080": market,
            "listen 80;": f"listen 127.0.0.1:{free_port()};",
            "listen 443 ssl http2;": f"listen 127.0.0.1:{port} ssl http2;",
            "/etc/ssl/market.example/fullchain.pem": str(certificate),
            "/etc/ssl/market.example/privkey.pem": str(key),
        },
    )
    paths = "".join(
        f"{kind}_temp_path {directory}/{kind};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    config = directory / "nginx.conf"
    user = "user root;\n" if os.geteuid() == 0 else ""
    config.write_text(
        f"{user}daemon off;\npid {directory}/pid;\nerror_log {directory}/error.log;\nevents {{}}\n"
        f"http {{\naccess_log off;\n{paths}{example}\n}}\n"
    )
    return subprocess.Popen(["nginx", "-p", directory, "-c", config], stderr=subprocess.STDOUT)


def start_caddy(directory, port, market, certificate, key):
    """Starts Caddy with the example. Returns the process."""
    example = replace(
        (EXAMPLES / "Caddyfile").read_text(),
        {
            "127.0.0.1:8080": market,
            f"\n{HOST} {{": f"\nhttps://{HOST}:{port} {{\n\tbind 127.0.0.1\n\ttls {certificate} {key}",
        },
    )
    config = directory / "Caddyfile"
    config.write_text("{\n\tadmin off\n\tauto_https disable_redirects\n}\n" + example)
    environment = os.environ | {"XDG_DATA_HOME": str(directory), "XDG_CONFIG_HOME": str(directory)}
    command = ["caddy", "run", "--adapter", "caddyfile", "--config", config]
    with (directory / "error.log").open("wb") as log:
        return subprocess.Popen(command, env=environment, stderr=log)


def connects(port):
    with socket.socket() as probe:
        return True if probe.connect_ex(("127.0.0.1", port)) == 0 else None


def run(name, start, program, work, megabytes, story):
    """Starts a market behind a proxy, and checks it."""
    directory = work / name
    directory.mkdir()
    port = free_port()
    settings = {
        "MARKETPLACE_SERVER_TRUSTED_PROXIES": '["127.0.0.1"]',
        "MARKETPLACE_SERVER_TRUSTED_HOSTS": f'["{HOST}"]',
        "MARKETPLACE_SERVER_MAX_CONNECTIONS_PER_ADDRESS": "0",
        "MARKETPLACE_SERVER_MAX_IDLE_CONNECTIONS_PER_ADDRESS": "0",
    }
    log = directory / "market.log"
    processes = []
    try:
        with log.open("wb") as errors:
            command = [program, "serve", "--demo", "--listen", "127.0.0.1:0"]
            market = subprocess.Popen(command, env=os.environ | settings, stdout=subprocess.PIPE, stderr=errors)
        processes.append(market)
        address = re.fullmatch(r"listening on http://(\S+)\n", market.stdout.readline().decode()).group(1)
        certificate, key = (work / "certificate.pem", work / "key.pem")
        processes.append(start(directory, port, address, certificate, key))
        wait_for(lambda: connects(port))
        check(Proxy(port, certificate), log.read_text, megabytes)
        if story:
            subprocess.run([*story, f"https://{HOST}:{port}", "script"], check=True)
    except BaseException:
        for file in (directory / "error.log", log):
            if file.exists():
                print(f"== {file}\n{file.read_text()[-4000:]}", flush=True)
        raise
    finally:
        for process in reversed(processes):
            process.terminate()
            process.wait()


def main():
    program, work, megabytes = sys.argv[1], pathlib.Path(sys.argv[2]).resolve(), int(sys.argv[3])
    story = sys.argv[4:]
    for name, start in [("nginx", start_nginx), ("caddy", start_caddy)]:
        print(f"\n-- {name}", flush=True)
        run(name, start, program, work, megabytes, story)


if __name__ == "__main__":
    main()
