import { execFile } from "node:child_process";
import { createServer } from "node:http";
import type { Socket } from "node:net";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import {
  ACCEPT,
  closeCodeIn,
  echo,
  frame,
  hesitantServer,
  ordinary,
  read,
  type SessionServer,
  sessionServer,
  until,
  upgradeText,
} from "../../../test/helpers/sessions.js";
import { answerOf, ask, gate, Opened, type Raw, type Secured, secured } from "../../../test/helpers/sockets.js";
import type { Intake } from "../exchange.js";
import type { Limits } from "../limits.js";
import type { Listening } from "./listen.js";

const opened = new Opened();
afterEach(() => opened.close());

let made: Secured;
beforeAll(async () => {
  made = await secured();
});

/** From Node 24 on the HTTP server itself ignores other upgrades. */
const CAN_IGNORE_UPGRADES = "shouldUpgradeCallback" in createServer();
const H2C = { upgrade: "h2c", connection: "Upgrade, HTTP2-Settings", more: "HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA\r\n" };

describe.each(["clear", "TLS"])("WebSocket upgrades: %s", (kind) => {
  function serve(server: Pick<SessionServer, "intake" | "onError">, limits: Partial<Limits> = {}): Promise<Listening> {
    const tls = kind === "TLS" ? made.pair : undefined;
    return opened.serve(server.intake, limits, { tls, onError: server.onError });
  }

  function dial(listening: Listening): Promise<Raw> {
    return opened.dial(listening, kind === "TLS" ? { ca: made.authority.ca, alpn: "http/1.1" } : undefined);
  }

  /** Everything that is received before the connection closes. */
  async function exchange(listening: Listening, text: string | Buffer): Promise<string> {
    const { socket, closed } = await dial(listening);
    socket.write(text);
    return closed;
  }

  test("requests and upgrades share a path and a connection", async () => {
    const server = sessionServer(echo, { headers: { "X-Extra": "1", connection: "close", "sec-websocket-accept": "forged" } });
    const { socket } = await dial(await serve(server));
    socket.write("GET /s HTTP/1.1\r\nHost: h\r\n\r\n");
    expect(await until(socket, "GET /s 0")).toMatch(/^HTTP\/1.1 200 OK\r\n/);
    socket.write(upgradeText({ more: "Sec-WebSocket-Protocol: one, two\r\n" }));
    const head = await until(socket, "\r\n\r\n");
    expect(head).toMatch(/^HTTP\/1.1 101 Switching Protocols\r\n/);
    expect(head.split("\r\n").sort()).toEqual(
      [
        "",
        "",
        "HTTP/1.1 101 Switching Protocols",
        "Upgrade: websocket",
        "Connection: Upgrade",
        "Sec-WebSocket-Protocol: one",
        "x-extra: 1",
      ]
        .concat(`Sec-WebSocket-Accept: ${ACCEPT}`)
        .sort(),
    );
    socket.write(frame("hello"));
    expect(await until(socket, "hello")).toBe("\x81\x05hello");
  });

  test("a client of ws exchanges messages", async () => {
    const { url } = await serve(sessionServer(echo));
    const client = new WebSocket(url.replace("http", "ws"), ["p"], { ca: made.authority.ca });
    opened.add(() => client.terminate());
    const messages: unknown[] = [];
    await new Promise((resolve) => client.on("open", resolve));
    expect([client.protocol, client.extensions]).toEqual(["p", ""]);
    client.send("text");
    client.send(Buffer.from([1, 2]));
    await new Promise<void>((resolve) => {
      client.on("message", (data, isBinary) => {
        if (messages.push([isBinary, String(data)]) === 2) resolve();
      });
    });
    expect(messages).toEqual([
      [false, "text"],
      [true, "\x01\x02"],
    ]);
    client.close(4000, "bye");
    expect(await new Promise((resolve) => client.on("close", (code, reason) => resolve([code, String(reason)])))).toEqual([
      4000,
      "bye",
    ]);
  });

  test.each([
    ["h2c", { ...H2C, path: "/h2c" }, "GET /h2c 0"],
    ["h2c with a body", { ...H2C, method: "POST", more: `${H2C.more}Content-Length: 3\r\n` }, "POST /s 3"],
    ["a POST to websocket", { method: "POST", more: "Content-Length: 3\r\n" }, "POST /s 3"],
    ["a websocket with a body", { more: "Content-Length: 3\r\n" }, "GET /s 3"],
    ["a list of protocols", { upgrade: "websocket, h2c" }, "GET /s 0"],
  ])("an ordinary request stays one: %s", async (_, text, answer) => {
    const server = sessionServer();
    const { socket } = await dial(await serve(server));
    // Twice on one connection: it is kept alive as any other.
    for (let round = 0; round < 2; round++) {
      socket.write(upgradeText(text));
      if (/ 3$/.test(answer)) socket.write("abc");
      expect(await until(socket, answer)).toMatch(/^HTTP\/1.1 200 OK\r\n(?!.*101 Switching)/s);
    }
    expect(server.heads).toEqual([]);
  });

  test("a connection that had such a request keeps its time limits", async () => {
    const { socket, closed } = await dial(await serve(sessionServer(), { headersMs: 200, requestMs: 200 }));
    socket.write(upgradeText(H2C));
    await until(socket, "GET /s 0");
    socket.write("GET /half HTTP/1.1\r\nHost");
    expect(await closed).toContain("408 Request Timeout");
  });

  test("a socket that is owed a response is not upgraded", async () => {
    const never = gate();
    const server = sessionServer();
    const take: Intake["take"] = () => ({
      bodyBytes: 1,
      unadmitted: false,
      exchange: () => never.passed.then(() => ({ status: 200, headers: {}, body: "late" })),
    });
    const listening = await serve({ ...server, intake: { ...server.intake, take } });
    expect(await exchange(listening, `GET /slow HTTP/1.1\r\nHost: h\r\n\r\n${upgradeText()}`)).toBe("");
    expect(server.heads).toEqual([]);
    const { socket, closed } = await dial(listening);
    socket.write(`GET /slow HTTP/1.1\r\nHost: h\r\n\r\n${upgradeText({ ...H2C, connection: "Upgrade, close" })}`);
    setTimeout(() => never.open(), 50);
    expect((await closed).match(/200 OK/g) ?? []).toHaveLength(CAN_IGNORE_UPGRADES ? 2 : 0);
  });

  test.each([
    ["another version", { version: "8" }, "426 Upgrade Required", /sec-websocket-version: 13\r\n/],
    ["no valid key", { key: "short" }, "400 Bad Request", /connection: close\r\n/],
    [
      "invalid subprotocols",
      { more: "Sec-WebSocket-Protocol: a, a\r\n" },
      "400 Bad Request",
      /content-type: application\/json\r\n/,
    ],
  ])("a handshake with %s is refused before anybody is asked", async (_, text, status, field) => {
    const server = sessionServer();
    const received = await exchange(await serve(server), upgradeText(text));
    expect(received).toContain(`HTTP/1.1 ${status}\r\n`);
    expect(received).toMatch(field);
    expect(server.heads).toEqual([]);
  });

  test("a server without sessions answers 404, and requests as before", async () => {
    const listening = await serve({ ...sessionServer(), intake: { take: ordinary } });
    expect(await exchange(listening, upgradeText())).toMatch(/^HTTP\/1.1 404 Not Found\r\n.*no WebSocket endpoint at \/s/s);
    expect(await exchange(listening, "GET /s HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")).toContain("GET /s 0");
  });

  test("a refusal is a complete response, also if more was sent than was read", async () => {
    const body = (async function* () {
      yield "not ";
      yield "here";
    })();
    const refusing = { take: ordinary, upgrade: async () => ({ status: 403, headers: { "x-why": "é" }, body }) };
    const listening = await serve({ ...sessionServer(), intake: refusing });
    const received = await exchange(listening, Buffer.concat([Buffer.from(upgradeText()), Buffer.alloc(300_000, 1)]));
    expect(received).toBe("HTTP/1.1 403 Forbidden\r\nx-why: é\r\nconnection: close\r\ncontent-length: 8\r\n\r\nnot here");
  });

  test("invalid headers of a protocol are a 500, reported and abandoned", async () => {
    const server = sessionServer(undefined, { headers: { "x-bad": "a\r\nb: c" } });
    expect(await exchange(await serve(server), upgradeText())).toMatch(/^HTTP\/1.1 500 /);
    expect(server.abandoned).toEqual(["/s"]);
    expect(server.errors).toHaveLength(1);
    const refusing = { take: ordinary, upgrade: () => ({ status: 403, headers: { "x-bad": "a\r\nb: c" }, body: "" }) };
    const refused = { ...sessionServer(), intake: refusing };
    expect(await exchange(await serve(refused), upgradeText())).toMatch(/^HTTP\/1.1 500 /);
    expect(refused.errors).toHaveLength(1);
  });

  test.each([
    ["closes", (socket: Socket) => socket.end()],
    ["resets", (socket: Socket) => (kind === "TLS" ? socket.destroy() : socket.resetAndDestroy())],
  ])("a peer that %s during the decision cancels it, and the answer is abandoned once", async (_, leave) => {
    const server = hesitantServer();
    const { late, heads } = server;
    const { socket } = await dial(await serve(server));
    socket.write(upgradeText());
    await expect.poll(() => heads.length).toBe(1);
    expect(heads[0]?.cancel.cancelled).toBe(false);
    leave(socket);
    await expect.poll(() => heads[0]?.cancel.reason?.message).toBe("the caller disconnected");
    expect(server.abandoned).toEqual([]);
    late.open();
    await expect.poll(() => server.abandoned).toEqual(["/s"]);
  });

  test("frames that arrive before the decision are read afterwards, within the buffers before", async () => {
    const server = hesitantServer();
    const { late, heads } = server;
    const { socket, closed } = await dial(await serve(server));
    const long = frame(Buffer.alloc(50_000, 97));
    const early = [frame("one"), ...Array.from({ length: 40 }, () => long), frame("last")];
    socket.write(Buffer.concat([Buffer.from(upgradeText()), ...early.slice(0, 1)]));
    await expect.poll(() => heads.length).toBe(1);
    socket.write(Buffer.concat(early.slice(1)));
    await new Promise((resolve) => setTimeout(resolve, 50));
    late.open();
    const session = await server.next();
    const received = await read(session, early.length);
    expect(received.map((each) => each.length)).toEqual([3, ...Array.from({ length: 40 }, () => 50_000), 4]);
    session.close(1000, "");
    socket.end(frame(Buffer.from([3, 232]), { opcode: 8 }));
    expect(closeCodeIn(await closed)).toBe(1000);
  });

  test("a handshake that never completes is ended by the limits of headers", async () => {
    const { socket, closed } = await dial(await serve(sessionServer(), { headersMs: 100, requestMs: 100 }));
    socket.write(upgradeText().slice(0, -2));
    expect(await closed).toContain("408 Request Timeout");
  });

  test("HTTP/2 has no WebSockets: CONNECT says so, extended CONNECT is reset, requests go on", async () => {
    const server = sessionServer();
    const session = await opened.session(await serve(server), made.authority.ca);
    const connect = await ask(session, { ":method": "CONNECT", ":authority": "h" });
    expect([connect.headers[":status"], connect.body]).toEqual([405, expect.stringContaining("for a WebSocket use HTTP/1.1")]);
    const extended = { ":method": "CONNECT", ":protocol": "websocket", ":path": "/s", ":scheme": "http", ":authority": "h" };
    expect((await answerOf(session.request(extended))).headers).toEqual({});
    expect((await ask(session, { ":path": "/s" })).body).toBe("GET /s 0");
    expect(server.heads).toEqual([]);
  });
});

const hasCurl = await new Promise<boolean>((resolve) => execFile("curl", ["--version"], (error) => resolve(error === null)));

test.skipIf(!hasCurl)("curl --http2 is answered in HTTP/1.1", async () => {
  const { url } = await opened.serve(sessionServer().intake);
  const printed = await new Promise((resolve) => {
    execFile("curl", ["-s", "--http2", "-d", "abc", "-w", " %{http_code} %{http_version}", `${url}/c`], (_, stdout) =>
      resolve(stdout),
    );
  });
  expect(printed).toBe("POST /c 3 200 1.1");
});
