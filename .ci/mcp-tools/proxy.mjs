// Adds the API key that the conformance suite cannot send. Everything else, including Host and Origin, is
// passed through.
import http from 'node:http';
const [target, key] = process.argv.slice(2);
const { hostname, port } = new URL(target);
const server = http.createServer((request, answer) => {
  const headers = { ...request.headers, authorization: `Bearer ${key}` };
  const onward = http.request({ hostname, port, path: request.url, method: request.method, headers }, (response) => {
    answer.writeHead(response.statusCode, response.headers);
    response.pipe(answer);
  });
  onward.on('error', () => answer.destroy());
  request.pipe(onward);
});
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
