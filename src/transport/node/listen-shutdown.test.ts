import { connect as connectHttp2, constants } from "node:http2";
import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { makeAuthority, type Pair } from "../../../test/certificates.js";
import type { HttpResponse, Intake, RequestHead } from "../exchange.js";
import { DEFAULT_LIMITS } from "../limits.js";
import { type Listening, listen } from "./listen.js";

/** New connections while a server drains: RFC 9110 §15.6.4 (503, Retry-After), RFC 9113 §6.8 (GOAWAY). */

let pair: Pair;
beforeAll(async () => {
  pair = await (await makeAuthority("Test")).issue({ hosts: ["localhost"] });
});

const opened: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

interface Running {
  readonly listening: Listening;
  readonly running: Promise<string>;
  readonly asked: readonly string[];
  /** Ends the call that the server waits for. */
  release(): void;
}

const wires = ["plain text", "TLS"] as const;
type Wire = (typeof wires)[number];

async function serve(wire: Wire): Promise<Running> {
  let release = (): void => undefined;
  let arrived = (): void => undefined;
  const here = new Promise<void>((resolve) => {
    arrived = resolve;
  });
  const asked: string[] = [];
  const intake: Intake = {
    take: (head) => ({
      bodyBytes: 1_000,
      unadmitted: false,
      exchange: () => {
        asked.push(head.path);
        if (head.path !== "/slow") return { status: 200, headers: {}, body: "served" };
        arrived();
        return new Promise<HttpResponse>((resolve) => {
          release = () => resolve({ status: 200, headers: {}, body: "slow" });
        });
      },
    }),
  };
  const limits = { ...DEFAULT_LIMITS, drainMs: 15_000 };
  const servesWhileClosing = ({ path }: RequestHead): boolean => path === "/check";
  const listening = await listen(intake, { port: 0, limits, servesWhileClosing, tls: wire === "TLS" ? pair : undefined });
  opened.push(() => {
    release();
    return listening.close();
  });
  const running = exchange(dial(wire, listening.port), "GET /slow HTTP/1.1\r\nhost: localhost\r\n\r\n");
  await here;
  return { listening, running, asked, release: () => release() };
}

function dial(wire: Wire, port: number): Socket {
  const at = { port, host: "127.0.0.1" };
  const socket = wire === "TLS" ? connectTls({ ...at, rejectUnauthorized: false, ALPNProtocols: ["http/1.1"] }) : connect(at);
  opened.push(() => socket.destroy());
  return socket;
}

/** Sends, and returns what was received until the server closed; an error of the socket, a reset included, is part of it. */
function exchange(socket: Socket, text: string): Promise<string> {
  let received = "";
  socket.on("data", (bytes) => (received += bytes.toString("latin1")));
  socket.on("error", (error) => (received += String(error)));
  const closed = new Promise<string>((resolve) => socket.on("close", () => resolve(received)));
  socket.write(text);
  return closed;
}

const REFUSED = /^HTTP\/1\.1 503 Service Unavailable\r\n(?=.*retry-after: 1\r\n)(?=.*connection: close\r\n).*shutting down/s;

describe.each(wires)("a server that drains, %s", (wire) => {
  test("answers new connections of HTTP/1.1 with 503, and ends when its last call does", async () => {
    const { listening, running, asked, release } = await serve(wire);
    const closed = listening.close();
    expect(await exchange(dial(wire, listening.port), "GET /new HTTP/1.1\r\nhost: localhost\r\n\r\n")).toMatch(REFUSED);
    const post = "POST /new HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\n\r\n{}";
    expect(await exchange(dial(wire, listening.port), post)).toMatch(REFUSED);
    release();
    expect(await running).toContain("slow");
    await closed;
    expect(asked).toEqual(["/slow"]);
    expect(await exchange(dial(wire, listening.port), "")).toContain("ECONNREFUSED");
  });

  test("answers health checks", async () => {
    const { listening } = await serve(wire);
    void listening.close();
    const answer = await exchange(dial(wire, listening.port), "GET /check HTTP/1.1\r\nhost: localhost\r\n\r\n");
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n.*connection: close\r\n.*served$/s);
  });

  test("sends GOAWAY on new connections of HTTP/2, and 503 on streams", async () => {
    const { listening, asked } = await serve(wire);
    void listening.close();
    const session = connectHttp2(listening.url, { rejectUnauthorized: false });
    opened.push(() => session.destroy());
    const ended = new Promise((resolve) => session.on("close", resolve));
    const goaway = new Promise<number>((resolve) => session.on("goaway", (code) => resolve(code)));
    const stream = session.request({ ":path": "/new" });
    const status = await new Promise((resolve, reject) => {
      stream.on("response", (fields) => resolve([fields[":status"], fields["retry-after"]]));
      stream.on("error", reject);
    });
    expect(status).toEqual([503, "1"]);
    expect(await goaway).toBe(constants.NGHTTP2_NO_ERROR);
    stream.resume();
    await ended;
    expect(asked).toEqual(["/slow"]);
  });

  test("lets a connection that was silent send its request", async () => {
    const { listening } = await serve(wire);
    const silent = dial(wire, listening.port);
    await new Promise((resolve) => silent.once(wire === "TLS" ? "secureConnect" : "connect", resolve));
    void listening.close();
    expect(await exchange(silent, "GET /new HTTP/1.1\r\nhost: localhost\r\n\r\n")).toMatch(REFUSED);
  });

  test("closes connections that stay silent while it drains", async () => {
    const { listening } = await serve(wire);
    const before = dial(wire, listening.port);
    await new Promise((resolve) => before.once(wire === "TLS" ? "secureConnect" : "connect", resolve));
    void listening.close();
    const after = dial(wire, listening.port);
    expect(await Promise.all([exchange(before, ""), exchange(after, "")])).toEqual(["", ""]);
  });

  test("drains until what the caller waits for has ended", async () => {
    const { listening, running, release } = await serve(wire);
    let stopped = (): void => undefined;
    const closed = listening.close(
      new Promise<void>((resolve) => {
        stopped = resolve;
      }),
    );
    release();
    expect(await running).toContain("slow");
    expect(await exchange(dial(wire, listening.port), "GET /new HTTP/1.1\r\nhost: localhost\r\n\r\n")).toMatch(REFUSED);
    stopped();
    await closed;
  });
});
