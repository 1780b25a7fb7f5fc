import { createHash } from "node:crypto";
import { createServer as createHttpServer, type RequestListener } from "node:http";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { errorOf, frame, limitsOf, read, sessionServer, upgradeTo } from "../../../test/helpers/sessions.js";
import { gate, Opened, type Secured, secured } from "../../../test/helpers/sockets.js";
import { AgentError, CancelSource } from "../../envelope/index.js";
import type { BaseSession } from "../base-session.js";
import type { Link, Session } from "../exchange.js";
import type { RequestStart } from "../request.js";
import { type PoolOptions, poolLink } from "./pool.js";

const opened = new Opened();
afterEach(() => opened.close());

let made: Secured;
beforeAll(async () => {
  made = await secured();
});

const KIB = 1024;

function linkOf(options: PoolOptions = {}): Link {
  const link = poolLink({ limits: limitsOf(), ...options });
  opened.add(() => link.close());
  return link;
}

async function open(url: string, options: PoolOptions = {}, subprotocols: readonly string[] = []): Promise<Session> {
  return openOn(linkOf(options), url, {}, subprotocols);
}

function openOn(
  link: Link,
  url: string,
  start: Partial<RequestStart> = {},
  subprotocols: readonly string[] = [],
): Promise<Session> {
  return link.open?.(upgradeTo(url, start), subprotocols) ?? Promise.reject(new Error("no sessions"));
}

async function bound(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  opened.add(() => server.close());
  return (server.address() as AddressInfo).port;
}

/** A server by hand: what it does with every connection, once the head has arrived. */
async function byHand(run: (socket: Socket, head: string) => void): Promise<string> {
  const server = createServer((socket) => {
    opened.add(() => socket.destroy());
    socket.on("error", () => undefined);
    let head = "";
    const onData = (bytes: Buffer): void => {
      head += bytes.toString("latin1");
      if (!head.includes("\r\n\r\n")) return;
      socket.off("data", onData).resume();
      run(socket, head);
    };
    socket.on("data", onData);
  });
  return `ws://127.0.0.1:${await bound(server)}`;
}

async function responding(listener: RequestListener): Promise<string> {
  const server = createHttpServer(listener);
  opened.add(() => server.closeAllConnections());
  return `ws://127.0.0.1:${await bound(server)}`;
}

/** The 101 response to a head. */
function switching(head: string, more = ""): string {
  const key = /sec-websocket-key: (\S+)/i.exec(head)?.[1] ?? "";
  const accept = createHash("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");
  return `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n${more}\r\n`;
}

describe("opening a WebSocket", () => {
  test("ws, wss, http and https are accepted, other addresses are not", async () => {
    const { intake } = sessionServer();
    const clear = await opened.serve(intake);
    const secure = await opened.serve(intake, {}, { tls: made.pair });
    const tls = { ca: made.authority.ca };
    for (const url of [clear.url, clear.url.replace("http", "ws"), secure.url, secure.url.replace("http", "WS")]) {
      const session = await open(`${url}/s#fragment`, { tls });
      session.close(1000, "");
      expect(await session.closed).toMatchObject({ code: 1000, clean: true });
    }
    for (const url of ["ftp://h/", "/path", "ws://", "ws://h:99999/"])
      expect(await errorOf(open(url))).toMatchObject({ code: "invalid_message", facts: { sent: "no" } });
  });

  test("a redirect is not followed", async () => {
    const paths: unknown[] = [];
    const url = await responding((req, res) => {
      paths.push(req.url);
      res.writeHead(302, { location: "/elsewhere" }).end();
    });
    const error = await errorOf(open(`${url}/first`));
    expect(error).toMatchObject({ code: "bad_peer", facts: { status: 302, sent: "no" } });
    expect(error.message).toContain("not followed");
    expect(paths).toEqual(["/first"]);
  });

  test("a server that ignores the upgrade is a bad peer", async () => {
    const url = await responding((_, res) => res.end("<html>"));
    const { message, ...error } = await errorOf(open(url));
    expect(error).toMatchObject({ code: "bad_peer", facts: { status: 200, sent: "no" } });
    expect(message).toMatch(/^127\.0\.0\.1:\d+ does not upgrade to WebSocket here \(HTTP 200\)$/);
  });

  test("of a refusal at most 64 KiB are read, and its beginning is the message", async () => {
    const cut = gate();
    const url = await responding((_, res) => {
      res.on("close", () => cut.open());
      res.writeHead(403);
      const more = (): void => void res.write("no! ".repeat(16 * KIB), () => setImmediate(more));
      more();
    });
    const { message, ...error } = await errorOf(open(url));
    expect(error).toMatchObject({ code: "forbidden", facts: { status: 403 } });
    expect(message.length).toBeLessThan(1_100);
    await cut.passed;
  });

  test("a refusal that is cut or hangs still has its status", async () => {
    const cut = await byHand((socket) =>
      socket.end("HTTP/1.1 429 Too Many Requests\r\nretry-after: 3\r\ncontent-length: 100\r\n\r\nslow"),
    );
    expect(await errorOf(open(cut))).toMatchObject({ code: "overloaded", facts: { status: 429, retryAfterMs: 3_000 } });
    const hanging = await byHand((socket) => socket.write("HTTP/1.1 503 No\r\ncontent-length: 100\r\n\r\nwait"));
    const error = await errorOf(open(hanging, { connectTimeoutMs: 100 }));
    expect(error).toMatchObject({ code: "unavailable", facts: { status: 503, sent: "no" } });
    expect(error.message).toContain("wait");
  });

  test.each([
    ["no Accept", (_: string) => "HTTP/1.1 101 S\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n", []],
    ["another protocol", (_: string) => "HTTP/1.1 101 S\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n", []],
    ["a subprotocol nobody offered", (head: string) => switching(head, "Sec-WebSocket-Protocol: x\r\n"), []],
    ["another subprotocol", (head: string) => switching(head, "Sec-WebSocket-Protocol: x\r\n"), ["y"]],
    ["no subprotocol", (head: string) => switching(head), ["y"]],
    ["an extension", (head: string) => switching(head, "Sec-WebSocket-Extensions: permessage-deflate\r\n"), []],
  ])("a 101 response with %s is a bad peer, and its connection is closed", async (_, respond, subprotocols) => {
    const closed = gate();
    const url = await byHand((socket, head) => {
      socket.on("close", () => closed.open());
      socket.write(respond(head));
    });
    expect(await errorOf(open(url, {}, subprotocols))).toMatchObject({ code: "bad_peer", facts: { sent: "no" } });
    await closed.passed;
  });

  test.each([
    ["garbage", (socket: Socket) => socket.end("SSH-2.0-x\r\n"), "bad_peer"],
    ["headers without end", (socket: Socket) => socket.write(`HTTP/1.1 200 OK\r\nx: ${"y".repeat(20 * KIB)}`), "too_large"],
    ["nothing", (socket: Socket) => socket.end(), "unavailable"],
    ["half a response", (socket: Socket) => socket.end("HTTP/1.1 101 S\r\nUpgr"), "unavailable"],
  ] as const)("a server that answers with %s: the error says so", async (_, respond, code) => {
    expect(await errorOf(open(await byHand(respond)))).toMatchObject({ code, facts: { sent: "no" } });
  });

  test("a server that accepts the connection and never answers is given up, even if it sends byte by byte", async () => {
    const silent = await byHand(() => undefined);
    const error = await errorOf(open(silent, { connectTimeoutMs: 50 }));
    expect(error).toMatchObject({ code: "deadline", facts: { sent: "no" } });
    const slow = await byHand((socket) => {
      socket.write("HTTP/1.1 101 S\r\nx: ");
      const drip = setInterval(() => socket.write("y"), 5);
      socket.on("close", () => clearInterval(drip));
    });
    expect(await errorOf(open(slow, { connectTimeoutMs: 100 }))).toMatchObject({ code: "deadline" });
  });

  test("a port that nobody listens on, a name that does not resolve", async () => {
    const server = createServer();
    const port = await bound(server);
    await new Promise((resolve) => server.close(resolve));
    const refused = await errorOf(open(`ws://127.0.0.1:${port}`));
    expect(refused).toMatchObject({ code: "unavailable", facts: { sent: "no" } });
    expect(refused.message).toContain("ECONNREFUSED");
    const lookup: PoolOptions["lookup"] = (_, __, done) => done(Object.assign(new Error("no"), { code: "ENOTFOUND" }), "", 4);
    const unknown = await errorOf(open("ws://nowhere.test", { lookup }));
    expect(unknown).toMatchObject({ code: "unavailable", facts: { sent: "no" } });
    expect(unknown.message).toContain("cannot resolve the host name of nowhere.test");
  });

  test("names are resolved by the link's own lookup", async () => {
    const { port } = await opened.serve(sessionServer().intake);
    const names: string[] = [];
    const lookup: PoolOptions["lookup"] = (name, options, done) => {
      names.push(name);
      if (options.all === true) done(null, [{ address: "127.0.0.1", family: 4 }]);
      else done(null, "127.0.0.1", 4);
    };
    const session = await open(`ws://agent.test:${port}/s`, { lookup });
    expect(names).toEqual(["agent.test"]);
    expect(session.subprotocol).toBe("");
  });

  test("the guard sees the http form, and nothing is sent if it refuses", async () => {
    const server = sessionServer();
    const { url } = await opened.serve(server.intake);
    const seen: string[] = [];
    const link = linkOf({
      guard: async (target) => {
        seen.push(target);
        if (target.endsWith("/private")) throw new AgentError("forbidden", "not that way");
      },
    });
    await openOn(link, `${url.replace("http", "ws")}/public?q`);
    expect(await errorOf(openOn(link, `${url.replace("http", "ws")}/private`))).toMatchObject({ code: "forbidden" });
    expect(seen).toEqual([`${url}/public?q`, `${url}/private`]);
    expect(server.heads.map(({ path }) => path)).toEqual(["/public"]);
  });

  test("cancelling while the connection is opened, or while the guard decides, ends the attempt", async () => {
    const asked = gate();
    const closed = gate();
    const url = await byHand((socket) => {
      socket.on("close", () => closed.open());
      asked.open();
    });
    const cancel = new CancelSource();
    const opening = errorOf(openOn(linkOf(), url, { cancel }));
    await asked.passed;
    cancel.cancel(new AgentError("deadline", "too late"));
    expect(await opening).toMatchObject({ code: "deadline", message: "too late" });
    await closed.passed;

    const guarded = new CancelSource();
    const decided = gate();
    const link = linkOf({ guard: () => decided.passed });
    const waiting = errorOf(openOn(link, url, { cancel: guarded }));
    guarded.cancel(new AgentError("cancelled", "enough"));
    decided.open();
    expect(await waiting).toMatchObject({ code: "cancelled", message: "enough" });
  });

  test("a call that ends after the handshake does not end its session", async () => {
    const server = sessionServer();
    const { url } = await opened.serve(server.intake);
    const cancel = new CancelSource();
    const session = await openOn(linkOf(), `${url}/s`, { cancel });
    cancel.cancel(new AgentError("cancelled", "the call is over"));
    await session.send("still here");
    expect(await read(await server.next(), 1)).toEqual(["still here"]);
  });

  test("sessions are limited, and a session that ended makes room", async () => {
    const { url } = await opened.serve(sessionServer().intake);
    const link = linkOf({ connections: 2 });
    const first = await openOn(link, `${url}/s`);
    const second = openOn(link, `${url}/s`);
    expect(await errorOf(openOn(link, `${url}/s`))).toMatchObject({ code: "overloaded", facts: { sent: "no" } });
    await second;
    first.close(1000, "");
    await first.closed;
    await openOn(link, `${url}/s`);
    expect(await errorOf(openOn(link, `${url}/s`))).toMatchObject({ code: "overloaded" });
  });

  test("a message in the same packet as the 101 response is neither lost nor unobserved", async () => {
    const url = await byHand((socket, head) => {
      socket.write(
        Buffer.concat([Buffer.from(switching(head)), frame("at once", { mask: false }), frame("", { opcode: 9, mask: false })]),
      );
    });
    const session = await open(url);
    await new Promise((resolve) => setTimeout(resolve, 20));
    const seen: unknown[] = [];
    session.tap({ received: (message, bytes) => seen.push([message, bytes]) });
    expect(await read(session, 1)).toEqual(["at once"]);
    expect(seen).toEqual([["at once", 7]]);
  });

  test("limits hold for what a server sends, and a masked frame is an error", async () => {
    const long = await byHand((socket, head) =>
      socket.write(Buffer.concat([Buffer.from(switching(head)), frame("x".repeat(200), { mask: false })])),
    );
    const limits = limitsOf({ sessionMessageBytes: 100 });
    expect(await (await open(long, { limits })).closed).toMatchObject({ code: 1009, clean: false });
    const masked = await byHand((socket, head) => socket.write(Buffer.concat([Buffer.from(switching(head)), frame("x")])));
    expect(await (await open(masked)).closed).toMatchObject({ code: 1002, clean: false });
  });

  test("observers that throw are reported to the link", async () => {
    const { url } = await opened.serve(sessionServer().intake);
    const errors: unknown[] = [];
    const session = await open(`${url}/s`, { onError: (thrown) => errors.push(thrown) });
    session.tap({
      sent: () => {
        throw new Error("tap");
      },
    });
    await session.send("x");
    expect(errors).toMatchObject([{ message: "tap" }]);
  });

  test("a server that does not answer the closing handshake is disconnected after drainMs", async () => {
    const url = await byHand((socket, head) => socket.write(switching(head)));
    const session = (await open(url)) as BaseSession;
    session.close(1000, "done");
    expect(await session.closed).toEqual({ code: 1000, reason: "done", clean: false });
  });
});

describe("opening a WebSocket under TLS", () => {
  test("an unknown authority, a server without TLS and one with HTTP/2 only are explained", async () => {
    const secure = await opened.serve(sessionServer().intake, {}, { tls: made.pair });
    const unknown = await errorOf(open(secure.url.replace("https", "wss")));
    expect(unknown).toMatchObject({ code: "unavailable", facts: { sent: "no" } });
    expect(unknown.message).toContain("unknown authority");
    const clear = await opened.serve(sessionServer().intake);
    const plain = await errorOf(open(clear.url.replace("http", "wss")));
    expect(plain).toMatchObject({ code: "unavailable", facts: { sent: "no" } });
    expect(plain.message).toContain("does not speak TLS");
    const http2 = createTlsServer({ ...made.pair, ALPNProtocols: ["h2"] }, (socket) => socket.on("error", () => undefined));
    const only = await errorOf(open(`wss://127.0.0.1:${await bound(http2)}`, { tls: { ca: made.authority.ca } }));
    expect(only).toMatchObject({ code: "bad_peer", facts: { sent: "no" } });
    expect(only.message).toContain("does not offer HTTP/1.1");
  });

  test("the certificate of the client is presented", async () => {
    const alice = await made.authority.issue({ hosts: ["alice"], client: true });
    const server = sessionServer();
    const tls = { ...made.pair, clientCa: made.authority.ca };
    const { url } = await opened.serve(server.intake, {}, { tls });
    await open(`${url}/s`, { tls: { ca: made.authority.ca, ...alice } });
    expect(server.heads[0]?.connection.clientCertificate).toBeInstanceOf(Uint8Array);
  });
});
