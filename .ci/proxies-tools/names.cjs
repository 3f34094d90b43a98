// Lets Node.js find the host of the example configurations on this machine.
const dns = require("node:dns");

const { lookup } = dns;
dns.lookup = (host, ...rest) => lookup(host === "market.example" ? "127.0.0.1" : host, ...rest);
