"""Kills of the server under a mix as in a market."""

import collections
import http.client
import random
import threading
import time

from market import OPERATOR, Market, Trade, require

WRITERS = 4
READERS = 2

# A kill of this share of the rounds comes while the server starts.
EARLY = 0.1

# All that was acknowledged is compared after so many kills; what is new, and a sample of the rest, after each.
CHECK_ALL_EVERY = 250
SAMPLE = 50

# The event that each record of a path has caused, exactly once.
EVENTS = {"teams": "team.created", "listings": "listing.published", "purchases": "purchase.created"}


class Events:
    """All events of the market, followed page by page across restarts."""

    def __init__(self, market: Market):
        self.market, self.seen = market, []

    def follow(self) -> None:
        """Reads what is new. No event comes twice, and none is left out: their numbers have no gaps."""
        while True:
            page = self.market.get(f"{OPERATOR}/events?limit=100&cursor=evt_{len(self.seen):016}").ok()
            for event in page["items"]:
                require(event["id"] == f"evt_{len(self.seen) + 1:016}", f"the event after {len(self.seen)} is {event['id']}")
                self.seen.append(event)
            if len(page["items"]) < 100:
                return

    def require_each_once(self, trade: Trade) -> None:
        """Compares the events with the records that were acknowledged, and with a second reading."""
        again = Events(self.market)
        again.follow()
        require(again.seen[: len(self.seen)] == self.seen, "events have changed after they were read")
        counts = collections.Counter((event["type"], event["subject"]["id"]) for event in again.seen)
        for path in trade.records:
            kind, subject = path.removeprefix(f"{OPERATOR}/").split("/")
            if kind in EVENTS:
                require(counts[EVENTS[kind], subject] == 1, f"{counts[EVENTS[kind], subject]} events {EVENTS[kind]} of {subject}")


class Kills:
    """Kills one after another, and what was seen."""

    def __init__(self, market: Market, seed: int):
        self.market, self.trade, self.events = market, Trade(market), Events(market)
        self.random, self.stopped, self.failures = random.Random(seed), threading.Event(), []
        self.checked, self.reads, self.longest_start = 0, 0, 0.0
        self.threads: list[threading.Thread] = []

    def begin(self) -> None:
        """Starts the clients."""
        self.stopped.clear()
        self.threads = [
            threading.Thread(target=self.guard, args=(work,), daemon=True)
            for work in [lambda: self.trade.run(self.stopped)] * WRITERS + [self.read] * READERS
        ]
        for thread in self.threads:
            thread.start()

    def guard(self, work) -> None:
        try:
            work()
        except Exception as failure:  # Every failure of a client is one of the drill.
            self.failures.append(failure)

    def end(self) -> None:
        """Waits until the clients have finished what they have begun."""
        self.stopped.set()
        for thread in self.threads:
            thread.join(timeout=120)
            require(not thread.is_alive() or self.failures, "a client got no answer within 120 s")
        self.raise_failure()

    def raise_failure(self) -> None:
        if self.failures:
            raise self.failures[0]

    def read(self) -> None:
        """Reads as buyers and agents do. Only the end of a connection excuses a missing answer."""
        team = self.trade.create_team("buyer")["id"]
        key = self.trade.do(f"{OPERATOR}/keys", {"team_id": team, "name": "reader"})["secret"]
        while not self.stopped.is_set():
            try:
                page = self.market.get("/v2/listings/browse?query=harbors&limit=24", key).ok()
                for listing in page["items"][:3]:
                    self.market.get(f"/v2/listings/browse/{listing['id']}", key).ok()
                self.reads += 1
            except (OSError, http.client.HTTPException):
                time.sleep(0.02)

    def kill_once(self) -> None:
        """Starts the server, compares, and kills it at a random moment."""
        if self.random.random() < EARLY:
            self.market.launch()
            time.sleep(self.random.uniform(0, 0.25))
            self.market.kill()
            return
        self.longest_start = max(self.longest_start, self.market.start())
        known = list(self.trade.records)
        new, old = known[self.checked :], known[: self.checked]
        self.trade.check(new + self.random.sample(old, min(SAMPLE, len(old))))
        self.checked = len(known)
        self.events.follow()
        time.sleep(self.random.uniform(0, 0.4))
        self.raise_failure()
        self.market.kill()

    def check_all(self) -> None:
        """Lets the clients finish, and compares everything."""
        self.market.start()
        self.end()
        self.trade.check_all()
        self.events.follow()
        self.events.require_each_once(self.trade)
        self.market.require_intact()
        self.market.kill()


def run(market: Market, count: int, seed: int) -> tuple[str, str]:
    """SIGKILL: nothing acknowledged is lost, and what is repeated is done once."""
    market.create()
    kills = Kills(market, seed)
    kills.begin()
    for number in range(1, count + 1):
        kills.kill_once()
        if number % CHECK_ALL_EVERY == 0 or number == count:
            kills.check_all()
            print(f"  {number} kills, {len(kills.trade.records)} records, {len(kills.events.seen)} events", flush=True)
            if number < count:
                kills.begin()
    market.require_intact("--deep")
    trade = kills.trade
    done = f"{count} kills (seed {seed}) of {WRITERS} traders and {READERS} readers; {trade.repeated} requests repeated"
    seen = (
        f"{len(trade.records)} records, {len(trade.files)} files, {len(kills.events.seen)} events as acknowledged; "
        f"{kills.reads} pages read; ready {kills.longest_start:.2f} s after a start at most; verify --deep finds nothing"
    )
    return done, seen
