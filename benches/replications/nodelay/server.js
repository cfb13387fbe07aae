// A server on Node's `http`, as its documentation has it: `node server.js FILE`.
const fs = require("node:fs");
const http = require("node:http");

const file = process.argv[2];
const ready = fs.readFileSync(file);
const server = http.createServer((request, response) => {
  response.writeHead(200, { "Content-Length": ready.length });
  if (request.url === "/ready") {
    response.end(ready);
  } else {
    fs.createReadStream(file).pipe(response);
  }
});
server.listen(0, "127.0.0.1", () => console.log(`listening on http://127.0.0.1:${server.address().port}`));
