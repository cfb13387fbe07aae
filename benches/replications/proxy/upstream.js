// The website behind the proxies: a page of 19 files over HTTPS, at the far end of a link with a declared round-trip time and bandwidth.
//
// The case's own upstream, `tls-site`, serves filler that refers to nothing and never compresses. A browser needs a page that names its 18 files, and
// the article's figures need gzip. So this site has the case's paths, and each file has the case's size after gzip.

"use strict";
const crypto = require("node:crypto");
const fs = require("node:fs");
const http = require("node:http");
const https = require("node:https");
const net = require("node:net");
const zlib = require("node:zlib");

const { files, key, cert, rtt_ms, mbit_per_s } = JSON.parse(process.argv[2]);
const TYPES = { css: "text/css", js: "text/javascript", svg: "image/svg+xml", woff2: "font/woff2" };
const counters = { tcp_connections: 0, full_handshakes: 0, resumed_handshakes: 0, requests: 0 };

/** The same bytes in every run. */
const noise = (seed, length) => crypto.createHash("shake256", { outputLength: length }).update(seed).digest();

/** Text that gzip shrinks to 60 %, so that the page is 562 kB without it, as in the article. */
const letters = (seed, length) => Buffer.from(noise(seed, length).map((byte) => "abcdefghijklmnopqrstuvwxyz".charCodeAt(byte % 26)));

const named = (ending) => files.map(([path]) => path).filter((path) => path.endsWith(ending));

/** What a browser reads in a file, as the text before and after the filler. */
function frame(path, origin) {
  switch (path.split(".")[1]) {
    case "css": {
      // Text in these fonts is on the page, so the browser loads them once it has read the style sheet.
      const font = (file, index) => `@font-face { font-family: f${index}; src: url(${file}); } .f${index} { font-family: f${index}; }\n`;
      return [(path.includes("core") ? named(".woff2").map(font).join("") : "") + "/*", "*/\n"];
    }
    case "js":
      return ["/*", "*/\n"];
    case "svg":
      return ['<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40"><circle cx="20" cy="20" r="18"/><!--', "--></svg>\n"];
    default: {
      const head = [
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>A page of 19 files</title><link rel="icon" href="data:,">',
        `<link rel="canonical" href="${origin}/">`,
        ...named(".css").map((file) => `<link rel="stylesheet" href="${file}"${file.includes("print") ? ' media="print"' : ""}>`),
        ...named(".js").map((file) => `<script defer src="${file}"></script>`),
      ];
      const fonts = named(".woff2").map((_, index) => `<p class="f${index}">text</p>`);
      const images = named(".svg").map((file) => `<img alt="" src="${file}">`);
      return [[...head, "</head><body>", ...fonts, ...images, "<!--"].join("\n"), "--></body></html>\n"];
    }
  }
}

/** A file with `size` bytes after gzip, or a byte or two more or less. */
function make([path, size], origin) {
  const type = TYPES[path.split(".")[1]] ?? "text/html; charset=utf-8";
  // A font is compressed already.
  if (type === TYPES.woff2) return { type, plain: noise(path, size), gzip: null };
  const [before, after] = frame(path, origin);
  let length = size;
  for (let attempt = 0; ; attempt++) {
    const plain = Buffer.concat([Buffer.from(before), letters(path, length), Buffer.from(after)]);
    const gzip = zlib.gzipSync(plain);
    if (gzip.length === size || attempt === 6) return { type, plain, gzip };
    length += Math.round((size - gzip.length) * 1.6) || Math.sign(size - gzip.length);
  }
}

/** One direction of the link. All connections share its bandwidth, and the data arrive in the order in which they were sent. */
function direction() {
  const queue = [];
  let free = 0;
  const deliver = () => {
    while (queue.length && queue[0].due <= performance.now()) {
      const { to, data } = queue.shift();
      if (data === null) to.end();
      else if (to.writable) to.write(data);
    }
    if (queue.length) setTimeout(deliver, queue[0].due - performance.now());
  };
  return (from, to) => {
    const send = (data) => {
      free = Math.max(free, performance.now()) + ((data?.length ?? 0) * 8) / (mbit_per_s * 1000);
      queue.push({ due: free + rtt_ms / 2, to, data });
      if (queue.length === 1) setTimeout(deliver, queue[0].due - performance.now());
    };
    from.on("data", send).on("end", () => send(null));
    from.on("error", () => to.destroy());
  };
}

/** A server that passes everything on to `port`, over the link. */
function link(port) {
  const [up, down] = [direction(), direction()];
  return net.createServer({ allowHalfOpen: true, noDelay: true, pauseOnConnect: true }, (client) => {
    client.on("error", () => {});
    // The kernel has accepted the connection at once; over a network that takes a round trip.
    setTimeout(() => {
      const server = net.connect({ port, host: "127.0.0.1", allowHalfOpen: true, noDelay: true });
      up(client, server);
      down(server, client);
      client.resume();
    }, rtt_ms);
  });
}

const listen = (server, port = 0) => new Promise((done) => server.listen(port, "127.0.0.1", () => done(server.address().port)));

async function main() {
  let site;
  const options = { key: fs.readFileSync(key), cert: fs.readFileSync(cert), ALPNProtocols: ["http/1.1"], keepAliveTimeout: 120_000 };
  const server = https.createServer(options, (request, response) => {
    counters.requests += 1;
    const file = site.get(request.url);
    if (!file) return response.writeHead(404).end();
    const gzip = file.gzip && /\bgzip\b/.test(request.headers["accept-encoding"]);
    const body = gzip ? file.gzip : file.plain;
    response.writeHead(200, {
      "content-type": file.type,
      "content-length": body.length,
      vary: "accept-encoding",
      ...(gzip && { "content-encoding": "gzip" }),
    });
    response.end(body);
  });
  server.on("connection", () => (counters.tcp_connections += 1));
  server.on("secureConnection", (socket) => (counters[socket.isSessionReused() ? "resumed_handshakes" : "full_handshakes"] += 1));

  const near = await listen(server);
  const far = rtt_ms ? await listen(link(near)) : near;
  const origin = `https://127.0.0.1:${far}`;
  site = new Map(files.map((file) => [file[0], make(file, origin)]));
  const sizes = Object.fromEntries([...site].map(([path, { plain, gzip }]) => [path, { plain: plain.length, wire: (gzip ?? plain).length }]));
  const control = await listen(http.createServer((_, response) => response.end(JSON.stringify({ ...counters, sizes }))));
  console.log(`counters on http://127.0.0.1:${control}\nlistening on ${origin}`);
}

// Standard input closes when the parent dies.
process.stdin.on("end", () => process.exit()).resume();
main();
