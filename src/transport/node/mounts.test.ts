import { once } from "node:events";
import { createServer, get, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { serve as serveHono } from "@hono/node-server";
import express from "express";
import fastify from "fastify";
import { Hono } from "hono";
import { afterEach, describe, expect, test } from "vitest";
import type { Exchange } from "../exchange.js";
import { fetchHandler } from "../fetch-handler.js";
import { requestListener } from "./request-listener.js";

const opened: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

let streamsEnded = 0;
let targets: string[] = [];

/** Reports the request; below `/stream` it streams until the reader stops. */
const exchange: Exchange = (request) => {
  targets.push(request.target);
  if (request.path !== "/stream") {
    const seen = { path: request.path, query: request.query, body: request.body.length === 0 ? null : request.json() };
    return { status: 200, headers: { "content-type": "application/json" }, body: JSON.stringify(seen) };
  }
  return {
    status: 200,
    headers: { "content-type": "text/event-stream" },
    body: (async function* () {
      try {
        for (;;) {
          yield "data: 1\n\n";
          await new Promise((resolve) => setTimeout(resolve, 5));
        }
      } finally {
        streamsEnded++;
      }
    })(),
  };
};

async function listening(server: Server): Promise<string> {
  opened.push(() => {
    server.closeAllConnections();
    server.close();
  });
  if (!server.listening) await once(server.listen(0, "127.0.0.1"), "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

type Mount = () => Promise<string>;

const bare: Mount = () => listening(createServer(requestListener(exchange, { basePath: "/agents" })));

const onExpress: Mount = () => {
  const app = express();
  app.use("/agents", requestListener(exchange));
  return listening(createServer(app));
};

const onFastify: Mount = async () => {
  const app = fastify();
  const listener = requestListener(exchange, { basePath: "/agents" });
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", (_request, _payload, done) => done(null));
    scope.all("/agents/*", (request, reply) => {
      reply.hijack();
      listener(request.raw, reply.raw);
    });
  });
  await app.ready();
  return listening(app.server);
};

const onHono: Mount = async () => {
  const app = new Hono();
  const handle = fetchHandler(exchange, { basePath: "/agents" });
  app.all("/agents/*", (context) => handle(context.req.raw));
  const server = serveHono({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }) as Server;
  await once(server, "listening");
  return listening(server);
};

describe.each<[string, Mount]>([
  ["bare http", bare],
  ["Express", onExpress],
  ["Fastify", onFastify],
  ["Hono", onHono],
])("mounted in %s", (_, mount) => {
  test("answers below the mount point, with the whole request target", async () => {
    const url = await mount();
    targets = [];
    const headers = { "content-type": "application/json" };
    const response = await fetch(`${url}/agents/a/b?c=d`, { method: "POST", headers, body: '{"e":1}' });
    expect(await response.json()).toEqual({ path: "/a/b", query: "c=d", body: { e: 1 } });
    expect(await (await fetch(`${url}/agents/x`)).json()).toEqual({ path: "/x", query: "", body: null });
    expect(targets).toEqual([`${url}/agents/a/b?c=d`, `${url}/agents/x`]);
    expect((await fetch(`${url}/elsewhere`)).status).toBe(404);
  });

  test("streams, and is notified when the client disconnects", async () => {
    const url = await mount();
    streamsEnded = 0;
    const request = get(`${url}/agents/stream`, { agent: false });
    const [response] = (await once(request, "response")) as [IncomingMessage];
    response.on("error", () => undefined);
    expect(response.headers["content-type"]).toBe("text/event-stream");
    const [first] = (await once(response, "data")) as [Buffer];
    expect(String(first)).toContain("data: 1\n\n");
    request.destroy();
    while (streamsEnded === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(streamsEnded).toBe(1);
  });
});

describe("a listener that claims some paths", () => {
  const claims = (path: string): boolean => path === "/ours";

  /** Answers what the listener passes on. */
  const onward: express.RequestHandler = (request, response) => {
    response.send(`next ${request.originalUrl}`);
  };

  test("Express: passes every other path on to next(), with its body", async () => {
    const app = express();
    app.use("/agents", requestListener(exchange, { claims }), express.text(), (request, response) => {
      response.send(`next ${request.originalUrl} ${request.body}`);
    });
    const url = await listening(createServer(app));
    expect(await (await fetch(`${url}/agents/ours?a=b`)).json()).toEqual({ path: "/ours", query: "a=b", body: null });
    const posted = await fetch(`${url}/agents/theirs`, {
      method: "POST",
      headers: { "content-type": "text/plain" },
      body: "hello",
    });
    expect(await posted.text()).toBe("next /agents/theirs hello");
  });

  test("Express: passes paths outside its basePath on", async () => {
    const app = express();
    app.use(requestListener(exchange, { claims, basePath: "/agents" }), onward);
    const url = await listening(createServer(app));
    expect(await (await fetch(`${url}/agents/ours`)).json()).toMatchObject({ path: "/ours" });
    expect(await (await fetch(`${url}/ours`)).text()).toBe("next /ours");
  });

  test("Express: a listener without claims answers everything", async () => {
    const app = express();
    app.use("/agents", requestListener(exchange), onward);
    const url = await listening(createServer(app));
    expect(await (await fetch(`${url}/agents/theirs`)).json()).toMatchObject({ path: "/theirs" });
  });

  test("bare http: answers every path itself", async () => {
    const url = await listening(createServer(requestListener(exchange, { claims })));
    expect(await (await fetch(`${url}/theirs`)).json()).toMatchObject({ path: "/theirs" });
  });
});

describe("mounted after a body parser", () => {
  const send = (url: string): Promise<globalThis.Response> =>
    fetch(`${url}/agents/x`, { method: "POST", headers: { "content-type": "application/json" }, body: "{}" });

  test("Express: the error says to mount before express.json()", async () => {
    const reported: unknown[] = [];
    const app = express();
    app.use(express.json());
    app.use("/agents", requestListener(exchange, { onError: (thrown) => reported.push(thrown) }));
    const response = await send(await listening(createServer(app)));
    expect(response.status).toBe(500);
    expect(await response.text()).toContain("before express.json()");
    expect(reported).toHaveLength(1);
  });

  test("Fastify: the error says to remove its parsers", async () => {
    const app = fastify();
    const listener = requestListener(exchange, { basePath: "/agents" });
    app.all("/agents/*", (request, reply) => {
      reply.hijack();
      listener(request.raw, reply.raw);
    });
    await app.ready();
    const response = await send(await listening(app.server));
    expect(response.status).toBe(500);
    expect(await response.text()).toContain("removeAllContentTypeParsers()");
  });

  test("Hono: the error says to mount before it", async () => {
    const app = new Hono();
    const handle = fetchHandler(exchange, { basePath: "/agents" });
    app.all("/agents/*", async (context) => {
      await context.req.raw.text();
      return handle(context.req.raw);
    });
    const server = serveHono({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }) as Server;
    await once(server, "listening");
    const response = await send(await listening(server));
    expect(response.status).toBe(500);
    expect(await response.text()).toContain("mount this handler before it");
  });
});
