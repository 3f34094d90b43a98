"""A store of uploads with the protocol of S3 that is slow, wrong, or away."""

import contextlib
import hashlib
import http.server
import re
import threading
import time
import urllib.parse
import uuid

from machine import UNAVAILABLE, Traders
from market import OPERATOR, Market, Trade, require

BUCKET = "market"

# What a store that trickles sends of an object in a second.
TRICKLED_BYTES = 64


class Store(http.server.ThreadingHTTPServer):
    """A bucket in memory, with the requests that the market sends. Does not check signatures."""

    daemon_threads = True

    def __init__(self, port: int = 0):
        self.objects: dict[str, bytes] = {}
        self.uploads: dict[str, dict[int, bytes]] = {}
        # What is wrong: "", "slow", "trickle", "500", "403", "cut", or "bytes".
        self.fault = ""
        self.counts = 0
        super().__init__(("127.0.0.1", port), Handler)

    def handle_error(self, *_) -> None:
        """Clients that close their connections are not errors."""


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_) -> None:
        pass

    def answer(self, status: int, body: bytes = b"", headers: dict[str, str] | None = None, size: int | None = None) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body) if size is None else size))
        self.end_headers()
        if self.command != "HEAD":
            if self.server.fault == "trickle" and len(body) > TRICKLED_BYTES:
                for at in range(0, len(body), TRICKLED_BYTES):
                    self.wfile.write(body[at : at + TRICKLED_BYTES])
                    time.sleep(1)
            else:
                self.wfile.write(body)

    def handle_request(self) -> None:
        store: Store = self.server
        store.counts += 1
        url = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(url.query, keep_blank_values=True))
        key = urllib.parse.unquote(url.path).removeprefix(f"/{BUCKET}").lstrip("/")
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if store.fault == "slow":
            time.sleep(2)
        if store.fault in ("500", "403"):
            code = {"500": "InternalError", "403": "AccessDenied"}[store.fault]
            return self.answer(int(store.fault), f"<Error><Code>{code}</Code></Error>".encode())
        if store.fault == "cut":
            self.close_connection = True
            return self.connection.close()
        if "uploadId" in query and query["uploadId"] not in store.uploads:
            return self.answer(404, b"<Error><Code>NoSuchUpload</Code></Error>")
        getattr(self, f"on_{self.command.lower()}")(store, key, query, body)

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = handle_request

    def on_get(self, store: Store, key: str, query: dict[str, str], _body: bytes) -> None:
        if "uploadId" in query:
            parts = store.uploads[query["uploadId"]]
            listed = "".join(
                f"<Part><PartNumber>{number}</PartNumber><ETag>{etag(part)}</ETag><Size>{len(part)}</Size></Part>"
                for number, part in sorted(parts.items()) if number > int(query.get("part-number-marker", 0))
            )
            return self.answer(200, f"<ListPartsResult>{listed}</ListPartsResult>".encode())
        if not key:
            found = "".join(
                f"<Contents><Key>{name}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified>"
                f"<ETag>{etag(content)}</ETag><Size>{len(content)}</Size></Contents>"
                for name, content in sorted(store.objects.items()) if name.startswith(query.get("prefix", ""))
            )
            return self.answer(200, f"<ListBucketResult><IsTruncated>false</IsTruncated>{found}</ListBucketResult>".encode())
        if key not in store.objects:
            return self.answer(404, b"<Error><Code>NoSuchKey</Code></Error>")
        content = store.objects[key]
        headers = {"ETag": etag(content), "Last-Modified": "Thu, 01 Jan 2026 00:00:00 GMT", "Accept-Ranges": "bytes"}
        if store.fault == "bytes" and self.command == "GET":
            content = content[:-1] + bytes([content[-1] ^ 1])
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range") or "")
        if asked:
            first, last = int(asked[1]), min(int(asked[2] or len(content) - 1), len(content) - 1)
            headers["Content-Range"] = f"bytes {first}-{last}/{len(content)}"
            return self.answer(206, content[first : last + 1], headers)
        self.answer(200, content, headers)

    on_head = on_get

    def on_put(self, store: Store, key: str, query: dict[str, str], body: bytes) -> None:
        source = self.headers.get("x-amz-copy-source")
        if source:
            name = urllib.parse.unquote(source).lstrip("/").removeprefix(f"{BUCKET}/")
            if name not in store.objects:
                return self.answer(404, b"<Error><Code>NoSuchKey</Code></Error>")
            store.objects[key] = store.objects[name]
            return self.answer(200, f"<CopyObjectResult><ETag>{etag(store.objects[key])}</ETag></CopyObjectResult>".encode())
        if "uploadId" in query:
            store.uploads[query["uploadId"]][int(query["partNumber"])] = body
        else:
            store.objects[key] = body
        self.answer(200, headers={"ETag": etag(body)})

    def on_post(self, store: Store, key: str, query: dict[str, str], body: bytes) -> None:
        if "delete" in query:
            names = [name.decode() for name in re.findall(rb"<Key>([^<]*)</Key>", body)]
            for name in names:
                store.objects.pop(name, None)
            deleted = "".join(f"<Deleted><Key>{name}</Key></Deleted>" for name in names)
            return self.answer(200, f"<DeleteResult>{deleted}</DeleteResult>".encode())
        if "uploads" in query:
            name = f"upload-{uuid.uuid4()}"
            store.uploads[name] = {}
            answer = f"<InitiateMultipartUploadResult><UploadId>{name}</UploadId></InitiateMultipartUploadResult>"
            return self.answer(200, answer.encode())
        store.objects[key] = b"".join(part for _, part in sorted(store.uploads.pop(query["uploadId"]).items()))
        answer = f"<CompleteMultipartUploadResult><ETag>{etag(store.objects[key])}</ETag></CompleteMultipartUploadResult>"
        self.answer(200, answer.encode())

    def on_delete(self, store: Store, key: str, query: dict[str, str], _body: bytes) -> None:
        if "uploadId" in query:
            del store.uploads[query["uploadId"]]
        else:
            store.objects.pop(key, None)
        self.answer(204)


def etag(content: bytes) -> str:
    return f'"{hashlib.md5(content).hexdigest()}"'


@contextlib.contextmanager
def serving(store: Store):
    thread = threading.Thread(target=store.serve_forever, daemon=True)
    thread.start()
    try:
        yield store
    finally:
        store.shutdown()
        store.server_close()


class RemoteTrade(Trade):
    """A trade whose parts are sent to the store, and whose files are there."""

    store: Store

    def send_part(self, url: str, content: bytes) -> None:
        path = urllib.parse.urlsplit(url).path.removeprefix(f"/{BUCKET}/")
        self.store.objects[path] = content

    def check_files(self) -> None:
        for upload, digest in self.files.items():
            names = [name for name in self.store.objects if name.endswith(f"uploads/{upload}.zip")]
            require(len(names) == 1, f"the object of the upload {upload} is lost: {names}")
            require(hashlib.sha256(self.store.objects[names[0]]).hexdigest() == digest, f"the object {names[0]} differs")


def configure(market: Market, store: Store) -> None:
    market.environment |= {
        "MARKETPLACE_BLOBS_KIND": "s3",
        "MARKETPLACE_BLOBS_ENDPOINT": f"http://127.0.0.1:{store.server_address[1]}",
        "MARKETPLACE_BLOBS_BUCKET": BUCKET,
        "MARKETPLACE_BLOBS_ACCESS_KEY_ID": "market-key",
        "MARKETPLACE_BLOBS_SECRET_ACCESS_KEY": "market-secret",
    }


def remote_store(market: Market) -> tuple[str, str]:
    """The store of uploads is slow, refuses, fails, cuts connections, changes bytes, or is away. Everything else goes on."""
    seen = []
    with serving(Store()) as store:
        configure(market, store)
        market.create()
        market.start()
        trade = RemoteTrade(market)
        trade.store = store
        traders = Traders(trade)
        time.sleep(2)
        for fault in ("slow", "trickle", "500", "403", "cut"):
            before, size = len(trade.files), market.log_size()
            store.fault = fault
            began = time.monotonic()
            while time.monotonic() - began < 8:
                asked = time.monotonic()
                market.get(f"{OPERATOR}/teams?limit=1").ok()
                require(time.monotonic() - asked < 2, f"a request that needs no file takes {time.monotonic() - asked:.1f} s")
                require(market.failed() == [], f"{market.failed()}")
                time.sleep(0.2)
            store.fault = ""
            healed = market.wait_for("an upload", lambda: len(trade.files) > before + 3, 120)
            # A slow store can be fast enough.
            expected = [set(), {UNAVAILABLE}] if fault in ("slow", "trickle") else [{UNAVAILABLE}]
            require(set(trade.refused) in expected, f"{fault}: {trade.refused}")
            seen.append(f"{fault}: {dict(trade.refused)}, uploads again after {healed:.1f} s, log: {'ERROR' in market.logged(size)}")
            trade.refused.clear()
        traders.end()
        market.require_no_lost_jobs()
        trade.check_all()
        market.require_intact()
        store.fault = "bytes"
        found = market.problems()
        require(len(found) == len(trade.files), f"verify finds {len(found)} of {len(trade.files)} changed objects")
        store.fault = "cut"
        away = market.problems()
        require(len(away) == len(trade.files), f"with the store away, verify finds {away[:2]}")
        seen.append(f"verify names each of {len(found)} objects with changed bytes, and each that it cannot read: {away[0]['message']}")
        require(market.stop() == 0, "the server does not end")
    return "a store was slow (2 s), answered 500 and 403, cut connections, and changed bytes, under trade", "; ".join(seen)
