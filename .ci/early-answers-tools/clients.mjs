// Sends requests that are answered before their bodies have arrived, with undici: one after the other, and several at
// once. Arguments: the address of a demo server, and the number of requests.

import { Agent, request } from "undici";

const [url, count] = [process.argv[2], Number(process.argv[3])];
const json = { "content-type": "application/json" };
const vendor = { authorization: "Bearer mkt_demo_vendor" };
const early = [
    ["POST", "/v2/codebases", json, 401],
    ["POST", "/v2/codebases", { ...json, authorization: "Bearer mkt_demo_buyer" }, 403],
    ["POST", "/v2/no/such/path", { ...json, ...vendor }, 404],
    ["PUT", "/v2/codebases", { ...json, ...vendor }, 405],
    ["POST", "/v2/codebases?limt=1", { ...json, ...vendor }, 422],
];
const late = ["GET", "/v2/domains", vendor, 200];
const sizes = [0, 1, 1_000, 65_536, 65_537, 200_000, 1_000_000, 5_000_000];

let failed = false;
for (const connections of [1, 4]) {
    const dispatcher = new Agent({ connections, pipelining: 1 });
    let right = 0;
    const send = async (number) => {
        const isLate = number % 3 === 2;
        const at = number - Math.floor(number / 3);
        const [method, path, headers, expected] = isLate ? late : early[at % early.length];
        const body = isLate ? undefined : Buffer.alloc(sizes[at % sizes.length], "x");
        let status;
        try {
            const response = await request(url + path, { method, headers, body, dispatcher });
            await response.body.dump();
            status = response.statusCode;
        } catch (error) {
            status = error;
        }
        if (status === expected) right += 1;
        else console.log(`undici: ${method} ${path} with ${body?.length ?? 0} bytes: ${status}, not ${expected}`);
    };
    const numbers = [...Array(count).keys()];
    const worker = async () => {
        for (let number = numbers.shift(); number !== undefined; number = numbers.shift()) await send(number);
    };
    await Promise.all(Array.from({ length: connections }, worker));
    console.log(`undici, ${connections} connections: ${right} of ${count}`);
    failed ||= right !== count;
}
process.exit(failed ? 1 : 0);
