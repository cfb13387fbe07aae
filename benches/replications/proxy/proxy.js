// A reverse proxy on http-proxy, with the settings and the body rewriting of Browsersync: `node proxy.js https://127.0.0.1:PORT [--pooled]`.

"use strict";
const http = require("node:http");
const https = require("node:https");
const httpProxy = require("http-proxy");

const [target, flag] = process.argv.slice(2);
const pooled = flag === "--pooled";

// Browsersync passes no agent. http-proxy then sends `connection: close`, and each request opens a TLS connection of its own.
const agent = pooled ? new https.Agent({ keepAlive: true }) : undefined;
const proxy = httpProxy.createProxyServer({ target, agent, changeOrigin: true, autoRewrite: true, secure: false });

proxy.on("error", (error, _, response) => {
  console.error(`cannot ask the upstream: ${error.message}`);
  if (!response.headersSent) response.writeHead(502);
  response.end();
});

/** Collects the body, and replaces the upstream's address in it before it is sent. */
function rewrite(request, response) {
  const { end } = response;
  const chunks = [];
  response.write = (chunk) => chunks.push(chunk);
  response.end = (chunk) => {
    if (chunk) chunks.push(chunk);
    const binary = !/text|svg/.test(response.getHeader("content-type"));
    const body = Buffer.concat(chunks);
    const changed = binary ? body : Buffer.from(body.toString().replaceAll(target, `http://${request.headers.host}`));
    response.setHeader("content-length", changed.length);
    end.call(response, changed);
  };
}

const server = http.createServer((request, response) => {
  if (!pooled) {
    // Text has to arrive uncompressed, or nothing can be replaced in it.
    request.headers["accept-encoding"] = "identity";
    rewrite(request, response);
  }
  proxy.web(request, response);
});
server.keepAliveTimeout = 120_000;
server.listen(0, "127.0.0.1", () => console.log(`listening on http://127.0.0.1:${server.address().port}`));

// Standard input closes when the parent dies.
process.stdin.on("end", () => process.exit()).resume();
