// Receives webhooks, and verifies them with the library `standardwebhooks`.
//
// With the path of a file, checks that the library signs the vectors in it alike. Otherwise prints its URL, and then, for
// each secret in a line of the input, `ready` and what it found in the next request.

import assert from "node:assert";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createInterface } from "node:readline";
import { Webhook } from "standardwebhooks";

function checkVectors(path) {
  const vectors = JSON.parse(readFileSync(path, "utf8"));
  for (const { secrets, id, timestamp, body, signature } of vectors) {
    const signed = secrets.map((secret) => new Webhook(secret).sign(id, new Date(timestamp * 1000), body));
    assert.equal(signed.join(" "), signature, id);
  }
  console.log(`${vectors.length} vectors are signed alike`);
}

function isRefused(secret, body, headers) {
  try {
    new Webhook(secret).verify(body, headers);
    return false;
  } catch {
    return true;
  }
}

// Verifies a request, and that forgeries are refused. Those with another time are signed for it.
function examine(secret, body, all) {
  const found = new Webhook(secret).verify(body, all);
  const names = ["webhook-id", "webhook-timestamp", "webhook-signature"];
  const headers = Object.fromEntries(names.map((name) => [name, all[name]]));
  const at = (seconds) => {
    const time = Number(headers["webhook-timestamp"]) + seconds;
    const signature = new Webhook(secret).sign(headers["webhook-id"], new Date(time * 1000), body);
    return { ...headers, "webhook-timestamp": String(time), "webhook-signature": signature };
  };
  assert(!isRefused(secret, body, at(0)));
  const forgeries = {
    "wrong ID": [body, { ...headers, "webhook-id": "msg_0" }],
    "other body": [`${body} `, headers],
    "old time": [body, at(-400)],
    "future time": [body, at(400)],
  };
  return {
    type: found.type,
    subject: found.data.subject.id,
    signatures: headers["webhook-signature"].split(" ").length,
    refused: Object.keys(forgeries).filter((name) => isRefused(secret, ...forgeries[name])),
  };
}

function receive() {
  let secret = "";
  const server = createServer((request, response) => {
    const chunks = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => {
      let found;
      try {
        found = examine(secret, Buffer.concat(chunks).toString("utf8"), request.headers);
      } catch (error) {
        found = { error: String(error) };
      }
      response.writeHead(204).end();
      console.log(JSON.stringify(found));
    });
  });
  server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/hook`));
  createInterface({ input: process.stdin }).on("line", (line) => {
    secret = line.trim();
    console.log("ready");
  });
}

if (process.argv[2]) {
  checkVectors(process.argv[2]);
} else {
  receive();
}
