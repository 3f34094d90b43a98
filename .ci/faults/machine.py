"""Faults of the machine: disk, permissions, clock, file descriptors, and child processes."""

import collections
import contextlib
import http.client
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import threading
import time
import zipfile

from market import OPERATOR, PATIENCE_SECONDS, Market, Trade, require

FAKETIME = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1"
NOBODY = 65534

# The answer to changes while the storage cannot be used.
UNAVAILABLE = "503 at_capacity/storage_unavailable"


def shell(*command: object) -> None:
    subprocess.run([str(part) for part in command], check=True, capture_output=True)


@contextlib.contextmanager
def mounted(at: pathlib.Path, *options: object):
    """A file system of its own, until the end of the block."""
    at.mkdir(parents=True, exist_ok=True)
    shell("mount", *options, at)
    try:
        yield
    finally:
        shell("umount", "--lazy", at)


class Traders:
    """Clients that trade, and repeat what is refused, until they are ended."""

    def __init__(self, trade: Trade, count: int = 3):
        self.stopped, self.failures = threading.Event(), []
        self.threads = [threading.Thread(target=self.work, args=(trade,), daemon=True) for _ in range(count)]
        for thread in self.threads:
            thread.start()

    def work(self, trade: Trade) -> None:
        try:
            trade.run(self.stopped)
        except Exception as failure:  # Every failure of a client is one of the drill.
            self.failures.append(failure)

    def end(self) -> None:
        self.stopped.set()
        for thread in self.threads:
            thread.join(PATIENCE_SECONDS * 2)
        if self.failures:
            raise self.failures[0]
        require(not any(thread.is_alive() for thread in self.threads), "a client gets no answer")


def refusals(trade: Trade, seconds: float) -> collections.Counter:
    """Returns how often requests that write were refused within a time, by code."""
    before = collections.Counter(trade.refused)
    time.sleep(seconds)
    return trade.refused - before


def require_recovered(market: Market, trade: Trade, traders: Traders):
    """Everything that was refused succeeds in the end, nothing is missing, and the server stops and leaves an intact market."""
    traders.end()
    market.wait_until_ready()
    trade.check_all()
    market.require_no_lost_jobs()
    require(market.stop() == 0, "the server does not end")
    market.require_intact()


def full_disk(market: Market) -> tuple[str, str]:
    """A full disk: changes are refused as `storage_full`, reads go on, and with space everything goes on without a restart."""
    seen = []
    with mounted(market.data, "-t", "tmpfs", "-o", "size=160m", "tmpfs"):
        for reserve in ("16", "0"):
            shutil.rmtree(market.work / "market", ignore_errors=True)
            market.environment["MARKETPLACE_DATA_RESERVE_MB"] = reserve
            if not (market.data / "market.sqlite").exists():
                market.create()
            market.start()
            trade = Trade(market)
            traders = Traders(trade)
            time.sleep(1)
            filler = market.data / "filler"
            subprocess.run(["dd", "if=/dev/zero", f"of={filler}", "bs=64k"], capture_output=True)
            refused = refusals(trade, 3)
            require(set(refused) == {"503 storage_full"}, f"with a reserve of {reserve} MB: {refused}")
            if reserve != "0":
                require("reserve_free" in market.failed(), "/readyz does not say that the reserve is used")
            trade.check(list(trade.records)[:200])
            filler.unlink()
            require_recovered(market, trade, traders)
            seen.append(f"reserve of {reserve} MB: {sum(refused.values())} changes refused, all repeated with success")
    return "a tmpfs was filled to the last byte under trade, and emptied", "; ".join(seen)


def read_only_folder(market: Market) -> tuple[str, str]:
    """A folder without permission to write: what needs new files is refused, and goes on without a restart."""
    market.create()
    shell("chown", "-R", NOBODY, market.work)
    market.work.chmod(0o755)
    market.start(before=("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"))
    trade = Trade(market)
    traders = Traders(trade)
    time.sleep(1)
    folders = [market.data, *(path for path in market.data.rglob("*") if path.is_dir())]
    before = market.log_size()
    for folder in folders:
        folder.chmod(0o555)
    refused = refusals(trade, 3)
    require("disk_writable" in market.failed(), "/readyz does not say that the folder is read-only")
    require("Permission denied" in market.logged(before), "the log does not name the cause")
    require(set(refused) == {UNAVAILABLE}, f"{refused}")
    trade.check(list(trade.records)[:200])
    for folder in folders:
        with contextlib.suppress(FileNotFoundError):
            folder.chmod(0o755)
    require_recovered(market, trade, traders)
    return "permission to write was taken from the folder of a server without privileges, and given back", (
        f"{dict(refused)}; /readyz disk_writable; log; all repeated with success"
    )


def read_only_disk(market: Market) -> tuple[str, str]:
    """A file system that the kernel has turned read-only: changes are refused, and a restart on the repaired one loses nothing."""
    image = market.work / "image"
    market.work.mkdir(parents=True)
    shell("truncate", "--size=256M", image)
    shell("mkfs.ext4", "-q", image)
    with mounted(market.data, "-o", "loop", image):
        shell("rmdir", market.data / "lost+found")
        market.create()
        market.start()
        trade = Trade(market)
        traders = Traders(trade)
        time.sleep(1)
        before = market.log_size()
        shell("mount", "-o", "remount,abort", market.data)
        refused = refusals(trade, 3)
        require(set(refused) == {UNAVAILABLE}, f"{refused}")
        require("disk_writable" in market.failed(), "/readyz does not say that the disk is read-only")
        require("Read-only file system" in market.logged(before) or "readonly" in market.logged(before), "the log is silent")
        trade.check(list(trade.records)[:200])
        market.kill()
        refused_start = market.run("serve", "--data", market.data, "--listen", "127.0.0.1:0")
        require(refused_start.returncode == 1 and "read-only" in refused_start.stderr, f"{refused_start}")
    # Its exit status says that it repaired something.
    subprocess.run(["e2fsck", "-y", "-f", str(image)], capture_output=True)
    with mounted(market.data, "-o", "loop", image):
        market.start()
        require_recovered(market, trade, traders)
    return "ext4 was aborted under trade, checked, and mounted again", (
        f"{dict(refused)}; /readyz disk_writable; log; no start while it is read-only (exit status 1); nothing is lost"
    )


def clock(market: Market) -> tuple[str, str]:
    """Jumps of the clock: everything goes on, also work that was scheduled while the clock was ahead."""
    require(pathlib.Path(FAKETIME).exists(), "libfaketime is missing: apt-get install faketime")
    market.create()
    time_file = market.work / "time"

    def jump(offset: str) -> None:
        new = market.work / "time.new"
        new.write_text(f"{offset}\n")
        new.rename(time_file)

    jump("+0d")
    market.environment |= {
        "LD_PRELOAD": FAKETIME,
        "FAKETIME_TIMESTAMP_FILE": str(time_file),
        "FAKETIME_NO_CACHE": "1",
        "DONT_FAKE_MONOTONIC": "1",
    }
    market.start()
    trade = Trade(market)
    vendor, buyer = trade.create_team("vendor")["id"], trade.create_team("buyer")["id"]
    key = trade.do(f"{OPERATOR}/keys", {"team_id": vendor, "name": "drill"})["secret"]
    trade.add_credits(buyer, 100_000)
    offsets = ("+0d", "+2d", "-3d", "+400d", "-4000d", "+5000d", "+0d")
    for offset in offsets:
        jump(offset)
        trade.sell(vendor, key, buyer)
        market.wait_until_ready()
        market.wait_for_jobs()
        trade.check_all()
    jobs = market.get(f"{OPERATOR}/jobs?limit=10").json()["items"]
    far = [job for job in jobs if job["due_at"][:4] > str(time.gmtime().tm_year + 1)]
    require(not far, f"after the jumps, {far} wait for years")
    market.kill()
    jump("+400d")
    market.start()
    trade.sell(vendor, key, buyer)
    market.kill()
    jump("+0d")
    market.start()
    market.require_no_lost_jobs()
    trade.sell(vendor, key, buyer)
    trade.check_all()
    require(market.stop() == 0, "the server does not end")
    market.require_intact("--deep")
    return f"jumps by {', '.join(offsets)} from the true time, while serving and between a kill and a start", (
        "sales, uploads, and jobs go on; no job waits for years; verify --deep finds nothing"
    )


def descriptors(market: Market) -> tuple[str, str]:
    """File descriptors run out: idle connections give way, nothing hangs, and everything goes on afterwards."""
    market.create()
    said = []
    for files in (16, 24, 32):
        market.launch(files)
        line = market.process.stdout.readline().decode()
        if line:
            said.append(f"{files}: starts")
        else:
            require(market.process.wait(PATIENCE_SECONDS) == 1, f"with {files} descriptors, the exit status is not 1")
            require("Too many open files" in market.logged() or "open file" in market.logged(), market.logged()[-500:])
            said.append(f"{files}: exit status 1, says why")
            continue
        market.kill()
    market.start(files=96)
    trade = Trade(market)
    traders = Traders(trade)
    time.sleep(0.5)
    host, port = market.address.split(":")
    idle, before = [], market.log_size()
    for _ in range(300):
        with contextlib.suppress(OSError):
            idle.append(socket.create_connection((host, int(port)), timeout=5))
    seen = collections.Counter()
    end = time.monotonic() + 3
    while time.monotonic() < end:
        try:
            seen[market.get("/readyz").status] += 1
        except (OSError, http.client.HTTPException):
            seen["closed"] += 1
            time.sleep(0.05)
    for connection in idle:
        connection.close()
    require_recovered(market, trade, traders)
    require(set(trade.refused) <= {UNAVAILABLE}, f"{trade.refused}")
    require(seen[200] > 0, f"/readyz was not answered: {dict(seen)}")
    warned = "Too many open files" in market.logged(before) or "descriptors" in market.logged(before)
    require(warned, "the log does not say that descriptors run out")
    return "start with 16, 24, and 32 descriptors; 300 idle connections to a server with 96, under trade", (
        f"{'; '.join(said)}; with 96, /readyz answers {dict(seen)}, refused changes {dict(trade.refused)}, "
        "the log says so; all repeated with success"
    )


def workers(market: Market) -> tuple[str, str]:
    """Child processes that read uploads crash: the job starts again, and ends as failed if it crashes each time."""
    market.create()
    market.start()
    trade = Trade(market)
    vendor = trade.create_team("vendor")["id"]
    key = trade.do(f"{OPERATOR}/keys", {"team_id": vendor, "name": "drill"})["secret"]
    crashes = collections.Counter()
    stopped = threading.Event()
    budget = {signal.SIGSEGV: 3, signal.SIGABRT: 3, signal.SIGKILL: 3}

    def crash() -> None:
        while not stopped.is_set():
            for child in children(market.process.pid):
                for name in budget:
                    if crashes[name.name] < budget[name]:
                        with contextlib.suppress(ProcessLookupError):
                            os.kill(child, name)
                            crashes[name.name] += 1
                        break
            time.sleep(0.001)

    thread = threading.Thread(target=crash, daemon=True)
    thread.start()
    assets = []
    while sum(crashes.values()) < sum(budget.values()):
        data = {"title": f"Scans {len(assets)}", "description": "Scans.", "data": {"channel": "zip", "url": trade.upload(vendor)}}
        assets.append(trade.do("/v2/raw-data", data, key)["id"])
        time.sleep(0.05)
        require(len(assets) < 500, f"only {crashes} children were seen")
    stopped.set()
    thread.join()
    market.wait_for_jobs()
    states = collections.Counter(market.get(f"{OPERATOR}/assets/{asset}").json()["analysis_status"] for asset in assets)
    require(states["completed"] + states["failed"] == len(assets), f"{states}")
    require("a job was interrupted" in market.logged(), "the log is silent")
    trade.check_all()
    require(market.stop() == 0, "the server does not end")
    market.require_intact()
    return f"children were ended with {dict(crashes)} while they read {len(assets)} uploads", (
        f"readings: {dict(states)}; log; the server goes on"
    )


def children(process: int) -> list[int]:
    found = []
    for task in pathlib.Path(f"/proc/{process}/task").iterdir():
        with contextlib.suppress(OSError):
            found += [int(child) for child in (task / "children").read_text().split()]
    return found
