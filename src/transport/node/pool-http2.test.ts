import { constants, createServer, type Http2Server, type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";
import { type AddressInfo, createServer as createNetServer, type Server, type Socket } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { gate, Opened } from "../../../test/helpers/sockets.js";
import { AgentError, CancelSource } from "../../envelope/index.js";
import { type Chunk, type HttpResponse, isStream, type Link } from "../exchange.js";
import { DEFAULT_LIMITS, type Limits } from "../limits.js";
import { makeRequest } from "../request.js";
import { type PoolOptions, poolLink } from "./pool.js";

const opened = new Opened();
afterEach(() => opened.close());

function linkWith(options: PoolOptions = {}, limits: Partial<Limits> = {}): Link {
  const link = poolLink({ limits: { ...DEFAULT_LIMITS, drainMs: 50, ...limits }, ...options });
  opened.add(() => link.close());
  return link;
}

interface Peer {
  readonly url: string;
  readonly server: Http2Server;
  readonly sessions: Set<ServerHttp2Session>;
  requests(): number;
}

type React = (stream: ServerHttp2Stream, path: string, session: ServerHttp2Session) => void;

/** Node's own HTTP/2 server, which reacts as the test wants. */
async function peer(react: React, settings: { readonly maxConcurrentStreams?: number } = {}): Promise<Peer> {
  const server: Http2Server = createServer({ settings });
  const sessions = new Set<ServerHttp2Session>();
  let requests = 0;
  server.on("session", (session) => {
    sessions.add(session);
    session.on("error", () => undefined);
    session.on("close", () => sessions.delete(session));
  });
  server.on("stream", (stream: ServerHttp2Stream, headers) => {
    requests++;
    stream.on("error", () => undefined);
    if (stream.session !== undefined) react(stream, headers[":path"] ?? "", stream.session as ServerHttp2Session);
  });
  const url = await bound(server);
  opened.add(() => {
    for (const session of sessions) session.destroy();
  });
  return { url, server, sessions, requests: () => requests };
}

async function bound(server: Server | Http2Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  opened.add(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function raw(react: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  opened.add(() => {
    for (const socket of sockets) socket.destroy();
  });
  return bound(
    createNetServer((socket) => {
      sockets.add(socket);
      socket.on("error", () => undefined);
      react(socket);
    }),
  );
}

const ask = (
  url: string,
  more: { readonly cancel?: CancelSource; readonly headers?: { readonly [name: string]: string } } = {},
) =>
  makeRequest({
    method: "POST",
    url,
    body: "body",
    ...more,
    headers: { "content-type": "application/grpc+proto", ...more.headers },
  });

async function errorOf(work: unknown): Promise<AgentError> {
  try {
    await work;
  } catch (thrown) {
    return AgentError.from(thrown);
  }
  return new AgentError("internal", "nothing was thrown");
}

function chunksOf({ body }: HttpResponse): AsyncIterator<Chunk> {
  if (!isStream(body)) throw new Error("a stream was expected");
  return body[Symbol.asyncIterator]();
}

async function textOf(response: HttpResponse): Promise<string> {
  let text = "";
  const chunks = chunksOf(response);
  for (let step = await chunks.next(); step.done !== true; step = await chunks.next()) text += Buffer.from(step.value).toString();
  return text;
}

describe("poolLink for gRPC", () => {
  test("uses HTTP/2 and returns body and trailers; trailers-only are headers", async () => {
    let seen: unknown;
    const { url } = await peer((stream, path) => {
      if (path === "/only") {
        stream.respond({ ":status": 200, "grpc-status": "5" }, { endStream: true });
        return;
      }
      stream.respond({ ":status": 200, "x-a": "1" }, { waitForTrailers: true });
      stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
      stream.on("data", (piece) => (seen = String(piece)));
      stream.on("end", () => stream.end(`to ${path}`));
    });
    const { exchange } = linkWith();
    const answer = await exchange(ask(`${url}/p?q=1`));
    expect(await textOf(answer)).toBe("to /p?q=1");
    expect([answer.status, answer.headers["x-a"], answer.trailers?.(), seen]).toEqual([200, "1", { "grpc-status": "0" }, "body"]);
    const only = await exchange(ask(`${url}/only`));
    expect(await textOf(only)).toBe("");
    expect([only.headers["grpc-status"], only.trailers?.()]).toEqual(["5", {}]);
    expect(Object.keys(only.headers).some((name) => name.startsWith(":"))).toBe(false);
  });

  test("respects the peer's concurrency limit over few connections, and answers all", async () => {
    let most = 0;
    const open = new Map<ServerHttp2Session, number>();
    const { url } = await peer(
      (stream, _, session) => {
        open.set(session, (open.get(session) ?? 0) + 1);
        most = Math.max(most, open.get(session) ?? 0);
        stream.on("close", () => open.set(session, (open.get(session) ?? 0) - 1));
        setTimeout(() => {
          stream.respond({ ":status": 200 });
          stream.end("x");
        }, 2);
      },
      { maxConcurrentStreams: 3 },
    );
    const { exchange } = linkWith({ connections: 100 });
    const answers = await Promise.all(Array.from({ length: 100 }, async () => textOf(await exchange(ask(url)))));
    expect(answers).toEqual(Array.from({ length: 100 }, () => "x"));
    expect(most).toBe(3);
    expect(open.size).toBeGreaterThan(1);
    expect(open.size).toBeLessThanOrEqual(8);
  });

  test("requests beyond the queue limit are rejected; one without a slot in time fails", async () => {
    const { url } = await peer(() => undefined, { maxConcurrentStreams: 0 });
    const link = linkWith({ connections: 1, waiting: 1, headersTimeoutMs: 200 });
    const held = [errorOf(link.exchange(ask(url))), errorOf(link.exchange(ask(url)))];
    expect(await errorOf(link.exchange(ask(url)))).toMatchObject({ code: "overloaded", facts: { sent: "no" } });
    for (const error of await Promise.all(held)) {
      expect(error).toMatchObject({
        code: "overloaded",
        message: expect.stringContaining("no free stream"),
        facts: { sent: "no" },
      });
    }
  });

  test("the peer is paused while the reader does not read", async () => {
    let sent = 0;
    const { url } = await peer((stream) => {
      stream.respond({ ":status": 200 });
      const more = (): void => {
        do sent++;
        while (!stream.destroyed && stream.write(Buffer.alloc(64 * 1024)));
      };
      stream.on("drain", more);
      more();
    });
    const chunks = chunksOf(await linkWith().exchange(ask(url)));
    let before = -1;
    while (before !== sent) {
      before = sent;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect(sent).toBeLessThan(100);
    for (let index = 0; index < 400; index++) await chunks.next();
    expect(sent).toBeGreaterThan(before);
    await chunks.return?.();
  });
});

describe("poolLink for gRPC: failures", () => {
  test.each<[string, React, string, "no" | "maybe"]>([
    ["refused stream", (stream) => stream.close(constants.NGHTTP2_REFUSED_STREAM), "unavailable", "no"],
    ["reset before the answer", (stream) => stream.close(constants.NGHTTP2_CANCEL), "unavailable", "maybe"],
    ["asked to calm down", (stream) => stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM), "overloaded", "maybe"],
  ])("%s: sent once", async (_, react, code, sent) => {
    const { url, requests } = await peer(react);
    const error = await errorOf(linkWith({ headersTimeoutMs: 2_000 }).exchange(ask(url)));
    expect([error.code, error.facts.sent]).toEqual([code, sent]);
    expect(requests()).toBe(1);
  });

  test.each([constants.NGHTTP2_NO_ERROR, constants.NGHTTP2_INTERNAL_ERROR])(
    "a peer that sends GOAWAY (code %i) without processing the request",
    async (code) => {
      // RFC 9113 §6.5 and §6.8: its settings, and once we have answered those, that it looked at no stream at all.
      const settings = [0, 0, 0, 4, 0, 0, 0, 0, 0];
      const goaway = [0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, code];
      const url = await raw((socket) => {
        socket.write(Buffer.from(settings));
        socket.on("data", (bytes) => {
          if (bytes.includes("body")) socket.write(Buffer.from(goaway));
        });
      });
      const error = await errorOf(linkWith({ headersTimeoutMs: 2_000 }).exchange(ask(url)));
      expect(error).toMatchObject({ code: "unavailable", facts: { sent: "no" } });
    },
  );

  test("a connection cut before the answer: sent once, may have been processed", async () => {
    const { url, requests } = await cutting((socket) => socket.destroy());
    expect(await errorOf(linkWith().exchange(ask(url)))).toMatchObject({ code: "unavailable", facts: { sent: "maybe" } });
    expect(requests()).toBe(1);
  });

  test.each(["destroy", "resetAndDestroy"] as const)(
    "an interrupted answer (%s) throws, after the received data",
    async (how) => {
      const { url } = await cutting(
        (socket) => setTimeout(() => socket[how](), 20),
        (stream) => {
          stream.respond({ ":status": 200 });
          stream.write("half");
        },
      );
      const chunks = chunksOf(await linkWith().exchange(ask(url)));
      expect(String((await chunks.next()).value)).toBe("half");
      expect(await errorOf(chunks.next())).toMatchObject({ code: "interrupted", facts: { sent: "maybe" } });
    },
  );

  test("connection refused, silence, and another protocol: nothing was sent", async () => {
    const gone = await bound(createNetServer());
    await opened.close();
    expect(await errorOf(linkWith().exchange(ask(gone)))).toMatchObject({
      code: "unavailable",
      message: `connection refused by ${gone.slice(7)} (ECONNREFUSED)`,
      facts: { sent: "no" },
    });
    const silent = await raw(() => undefined);
    expect(await errorOf(linkWith({ connectTimeoutMs: 100 }).exchange(ask(silent)))).toMatchObject({
      code: "unavailable",
      message: `connecting to ${silent.slice(7)} timed out (ETIMEDOUT)`,
      facts: { sent: "no" },
    });
    const old = await raw((socket) => socket.once("data", () => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n")));
    expect(await errorOf(linkWith().exchange(ask(old)))).toMatchObject({ code: "bad_peer", facts: { sent: "no" } });
    const closing = await raw((socket) => socket.once("data", () => socket.end()));
    expect(await errorOf(linkWith().exchange(ask(closing)))).toMatchObject({ code: "unavailable", facts: { sent: "no" } });
  });

  test("a peer that never answers, and one that falls silent", async () => {
    const { url } = await peer((stream, path) => {
      if (path === "/never") return;
      stream.respond({ ":status": 200 });
      stream.write("x");
    });
    const { exchange } = linkWith({ headersTimeoutMs: 100, bodyIdleMs: 60 });
    expect(await errorOf(exchange(ask(`${url}/never`)))).toMatchObject({
      code: "deadline",
      message: `${url.slice(7)} did not respond within 100 ms`,
      facts: { sent: "maybe" },
    });
    const chunks = chunksOf(await exchange(ask(url)));
    await chunks.next();
    expect(await errorOf(chunks.next())).toMatchObject({ code: "interrupted", facts: { sent: "maybe" } });
  });

  test("a cancel before, while connecting, and while waiting for the answer; the stream is reset with CANCEL", async () => {
    let code: number | undefined;
    const [arrived, reset] = [gate(), gate()];
    const { url, requests } = await peer((stream) => {
      stream.on("close", () => {
        code = stream.rstCode;
        reset.open();
      });
      arrived.open();
    });
    const link = linkWith();
    const before = new CancelSource();
    before.cancel(new AgentError("cancelled", "no need"));
    expect((await errorOf(link.exchange(ask(url, { cancel: before })))).code).toBe("cancelled");
    const connecting = new CancelSource();
    const early = errorOf(link.exchange(ask(url, { cancel: connecting })));
    connecting.cancel(new AgentError("cancelled", "no need"));
    expect((await early).code).toBe("cancelled");
    expect(requests()).toBe(0);
    const waiting = new CancelSource();
    const late = errorOf(link.exchange(ask(url, { cancel: waiting })));
    await arrived.passed;
    waiting.cancel(new AgentError("deadline", "late"));
    expect((await late).code).toBe("deadline");
    await reset.passed;
    expect(code).toBe(constants.NGHTTP2_CANCEL);
  });

  test("an invalid request is rejected before it is sent, and the guard is called first", async () => {
    const { url, requests } = await peer(() => undefined);
    expect(await errorOf(linkWith().exchange(ask(url, { headers: { "x-bad": "a\nb" } })))).toMatchObject({
      code: "encode",
      facts: { sent: "no" },
    });
    const guard = (): never => {
      throw new AgentError("forbidden", "private", { sent: "no" });
    };
    expect((await errorOf(linkWith({ guard }).exchange(ask(url)))).code).toBe("forbidden");
    expect(requests()).toBe(0);
  });

  test("the name is resolved by the lookup that was given", async () => {
    const { url } = await peer((stream) => {
      stream.respond({ ":status": 200 });
      stream.end("found");
    });
    const lookup: NonNullable<PoolOptions["lookup"]> = (_, options, done) =>
      options.all === true ? done(null, [{ address: "127.0.0.1", family: 4 }]) : done(null, "127.0.0.1", 4);
    expect(await textOf(await linkWith({ lookup }).exchange(ask(url.replace("127.0.0.1", "somewhere.test"))))).toBe("found");
  });
});

describe("poolLink for gRPC: end", () => {
  test("close lets running calls end and refuses new ones, then cuts", async () => {
    const arrived = gate();
    let answer = (): void => undefined;
    const { url, sessions } = await peer((stream, path) => {
      stream.respond({ ":status": 200 });
      stream.write("1");
      if (path === "/ends") answer = () => stream.end("2");
      arrived.open();
    });
    const link = linkWith({}, { drainMs: 5_000 });
    const running = await link.exchange(ask(`${url}/ends`));
    await arrived.passed;
    const closed = link.close();
    expect(await errorOf(link.exchange(ask(url)))).toMatchObject({ code: "unavailable", facts: { sent: "no" } });
    answer();
    expect(await textOf(running)).toBe("12");
    await closed;
    const hasty = linkWith({}, { drainMs: 50 });
    const chunks = chunksOf(await hasty.exchange(ask(url)));
    await chunks.next();
    const waiting = errorOf(chunks.next());
    await hasty.close();
    expect((await waiting).code).toBe("interrupted");
    while (sessions.size > 0) await new Promise((resolve) => setImmediate(resolve));
  });

  test("a peer that closes gracefully is dialled again", async () => {
    const { url, sessions } = await peer((stream, _, session) => {
      stream.respond({ ":status": 200 });
      stream.end("x");
      stream.on("close", () => session.close());
    });
    const { exchange } = linkWith();
    for (let index = 0; index < 3; index++) {
      expect(await textOf(await exchange(ask(url)))).toBe("x");
      while (sessions.size > 0) await new Promise((resolve) => setImmediate(resolve));
    }
  });
});

/** An HTTP/2 server whose socket the test can break once a request has arrived. */
async function cutting(cut: (socket: Socket) => void, react: React = () => undefined): Promise<Peer> {
  const sockets: Socket[] = [];
  const made = await peer((stream, path, session) => {
    react(stream, path, session);
    for (const socket of sockets) cut(socket);
  });
  made.server.on("connection", (socket: Socket) => sockets.push(socket));
  return made;
}
