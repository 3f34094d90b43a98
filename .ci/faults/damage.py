"""Damage of files: pages of the database, and files of uploads and bundles. The search index has tests of its own."""

import collections
import pathlib
import random
import shutil
import sqlite3

from market import OPERATOR, Market, Trade, require

# Pages that are damaged, and flipped bits.
PAGES = 100
BITS = 60


def fill(market: Market, sales: int = 5) -> Trade:
    """Creates a market with listings, and with sales whose bundles are made. Its server is stopped."""
    market.create()
    seeded = market.run("seed", "--generate", "200", "--data", market.data)
    require(seeded.returncode == 0, seeded.stderr)
    market.start()
    trade = Trade(market)
    vendor, buyer = trade.create_team("vendor")["id"], trade.create_team("buyer")["id"]
    key = trade.do(f"{OPERATOR}/keys", {"team_id": vendor, "name": "drill"})["secret"]
    trade.add_credits(buyer, 100_000)
    for _ in range(sales):
        trade.sell(vendor, key, buyer)
    market.wait_for_jobs()
    require(market.stop() == 0, "the server does not end")
    with sqlite3.connect(market.data / "market.sqlite") as rows:
        rows.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    rows.close()
    market.require_intact("--deep")
    return trade


class Database:
    """The file of the database, which is damaged and repaired."""

    def __init__(self, market: Market):
        self.market, self.path = market, market.data / "market.sqlite"
        self.intact = self.path.read_bytes()
        rows = sqlite3.connect(self.path)
        self.page_size = rows.execute("PRAGMA page_size").fetchone()[0]
        self.roots = dict(rows.execute("SELECT name, rootpage FROM sqlite_schema WHERE rootpage > 0"))
        rows.close()

    def write(self, content: bytes) -> None:
        """Replaces the file. No process may have it open."""
        for suffix in ("-wal", "-shm"):
            pathlib.Path(f"{self.path}{suffix}").unlink(missing_ok=True)
        self.path.write_bytes(content)

    def with_page(self, number: int, content: bytes) -> bytes:
        at = (number - 1) * self.page_size
        return self.intact[:at] + content + self.intact[at + self.page_size :]

    def contents(self) -> dict | None:
        """Returns all rows; `None` if they cannot be read."""
        rows = sqlite3.connect(self.path)
        rows.text_factory = bytes
        try:
            tables = [name for (name,) in rows.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
            return {name: rows.execute(f'SELECT * FROM "{name}"').fetchall() for name in map(bytes.decode, tables)}
        except (sqlite3.DatabaseError, UnicodeDecodeError, ValueError):
            return None
        finally:
            rows.close()


def pages(market: Market, seed: int) -> tuple[str, str]:
    """Damaged pages of the database: `verify` finds each, and the server says so. A backup restores everything."""
    trade = fill(market)
    backup = market.work / "backup"
    made = market.run("backup", backup, "--data", market.data)
    require(made.returncode == 0, made.stderr)
    database = Database(market)
    count = len(database.intact) // database.page_size
    for number in sorted(random.Random(seed).sample(range(1, count + 1), min(PAGES, count))):
        for byte in (b"\x55", b"\0"):
            database.write(database.with_page(number, byte * database.page_size))
            require(market.problems(), f"verify does not find page {number} of {byte!r}")
    bits = flip_bits(database, seed)
    said = serve_damaged(trade, database)
    database.write(database.intact)
    market.require_intact()
    shutil.rmtree(market.data)
    restored = market.run("restore", backup, "--data", market.data)
    require(restored.returncode == 0, restored.stderr)
    market.start()
    trade.check_all()
    market.kill()
    return (
        f"each of {PAGES} of {count} pages filled with 0x55 and with 0; {BITS} single bits flipped; {len(said)} tables served with a "
        "damaged first page; a backup restored",
        f"verify finds every page, and {bits}; {'; '.join(f'{name}: {what}' for name, what in said.items())}; restored, nothing is lost",
    )


def flip_bits(database: Database, seed: int) -> str:
    """Flips single bits. Returns which of them `verify` finds: SQLite has no checksums, so not every changed letter."""
    database.write(database.intact)
    intact, chance = database.contents(), random.Random(seed)
    found, changed, missed = 0, 0, collections.Counter()
    for _ in range(BITS):
        at = chance.randrange(100, len(database.intact))
        damaged = bytearray(database.intact)
        damaged[at] ^= 1 << chance.randrange(8)
        database.write(bytes(damaged))
        now, is_found = database.contents(), bool(database.market.problems())
        if now == intact:
            continue
        changed += 1
        found += is_found
        if not is_found:
            missed.update(name for name in intact if now is None or now[name] != intact[name])
    unfound = ", ".join(sorted(missed)) or "none"
    return f"{found} of {changed} bits that changed a record (not found in: {unfound})"


def serve_damaged(trade: Trade, database: Database) -> dict[str, str]:
    """Serves the market with the first page of a table damaged. No answer contradicts what was acknowledged."""
    market, said = database.market, {}
    for table in ("teams", "purchases", "adjustments"):
        database.write(database.with_page(database.roots[table], b"\x55" * database.page_size))
        before = market.log_size()
        try:
            market.start()
        except Exception:
            require(market.process.wait(60) == 1, "the exit status is not 1")
            require("restore" in market.logged(before), "the message does not say what to do")
            said[table] = "the server does not start, exit status 1, and says what to do"
            continue
        statuses = collections.Counter()
        for path, expected in trade.records.items():
            answer = market.get(path)
            statuses[answer.status] += 1
            if answer.status == 200:
                require(expected.items() <= answer.json().items(), f"{path} is wrong: {answer!r}")
            else:
                require(answer.status == 500 and answer.code() == "internal_error", f"{path}: {answer!r}")
        require(statuses[500], f"nothing of {table} is read: {statuses}")
        require("the database is damaged" in market.logged(before), "the log does not say that the database is damaged")
        require("database_intact" in market.failed(), "/readyz does not say that the database is damaged")
        market.kill()
        said[table] = f"{statuses[500]} answers 500, {statuses[200]} right; log; /readyz database_intact"
    return said


def files(market: Market, seed: int) -> tuple[str, str]:
    """Damaged files of uploads and bundles: `verify` finds each, and no damage where there is none."""
    trade = fill(market)
    chance, done = random.Random(seed), 0
    stored = sorted(path for path in (market.data / "blobs").rglob("*") if path.is_file() and path.stat().st_size > 0)
    require(len(stored) >= len(trade.files), f"only {stored}")
    for path in stored:
        intact = path.read_bytes()
        flipped = bytearray(intact)
        flipped[chance.randrange(len(intact))] ^= 1
        for damaged in (bytes(flipped), intact[:-1], intact + b"\0", b"", None):
            path.unlink() if damaged is None else path.write_bytes(damaged)
            found = market.problems()
            require(
                len(found) == 1 and found[0]["part"] == "files" and path.stem in found[0]["message"],
                f"verify finds {found} if {path.name} is {'missing' if damaged is None else 'damaged'}",
            )
            path.write_bytes(intact)
            done += 1
    market.require_intact()
    return f"each of {len(stored)} files with a flipped bit, shorter, longer, empty, and missing", f"verify names all {done}, and nothing else"
