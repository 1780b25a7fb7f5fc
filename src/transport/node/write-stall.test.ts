import { connect as connectHttp2, constants } from "node:http2";
import { connect } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { answerOf, ask, gate, Opened } from "../../../test/helpers/sockets.js";
import type { Exchange, HttpResponse } from "../exchange.js";

const opened = new Opened();
afterEach(() => opened.close());

/** More than the kernel takes for a reader on the same machine. */
const LARGE = 32 * 1024 * 1024;
const fine = (body: HttpResponse["body"]): HttpResponse => ({ status: 200, headers: {}, body });

describe("a whole HTTP/1.1 answer", () => {
  test("that is not read is cut after writeStallMs", async () => {
    const cut = gate();
    const exchange: Exchange = (request) => {
      if (request.path === "/large") return fine(Buffer.alloc(LARGE));
      request.cancel.onCancel(() => cut.open());
      return new Promise(() => undefined);
    };
    const { port } = await opened.serve(exchange, { writeStallMs: 100 });
    const socket = connect(port, "127.0.0.1");
    opened.add(() => socket.destroy());
    socket.on("error", () => undefined);
    socket.pause();
    // The second is notified when the connection closes.
    socket.write("GET /large HTTP/1.1\r\nhost: h\r\n\r\nGET /wait HTTP/1.1\r\nhost: h\r\n\r\n");
    await cut.passed;
  });

  test("that is read leaves no limit for the next one", async () => {
    const exchange: Exchange = async (request) => {
      if (request.path === "/large") return fine(Buffer.alloc(LARGE));
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      return fine("in the end");
    };
    const server = await opened.serve(exchange, { writeStallMs: 300 });
    const raw = await opened.dial(server);
    raw.socket.write("GET /large HTTP/1.1\r\nhost: h\r\n\r\nGET /slow HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n");
    expect((await raw.closed).slice(-10)).toBe("in the end");
  });
});

describe("an HTTP/2 answer to a peer that opens no window and only pings", () => {
  async function* once(): AsyncGenerator<string> {
    yield "x";
  }
  const answers: { readonly [path: string]: () => HttpResponse } = {
    "/small": () => fine("x"),
    "/large": () => fine(Buffer.alloc(LARGE)),
    "/stream": () => fine(once()),
    "/trailers": () => ({ ...fine("x"), trailers: () => ({ "grpc-status": "0" }) }),
  };

  test.each(Object.keys(answers))("%s is cut after writeStallMs, and then the connection is idle", async (path) => {
    const server = await opened.serve(({ path: asked }) => answers[asked]?.() ?? fine(""), { writeStallMs: 100, idleMs: 300 });
    const session = connectHttp2(server.url, { settings: { initialWindowSize: 0 } });
    opened.add(() => session.destroy());
    session.on("error", () => undefined);
    const closed = new Promise((resolve) => session.once("close", resolve));
    const pings = setInterval(() => session.closed || session.ping(() => undefined), 20);
    opened.add(() => clearInterval(pings));
    expect(await answerOf(session.request({ ":path": path }))).toMatchObject({
      body: "",
      rstCode: constants.NGHTTP2_INTERNAL_ERROR,
    });
    await closed;
  });
});

test("an unread HTTP/2 rejection is reset too, and the server continues when the peer opens its window", async () => {
  const server = await opened.serve(() => fine("x"), { writeStallMs: 100 });
  const session = connectHttp2(server.url, { settings: { initialWindowSize: 0 } });
  opened.add(() => session.destroy());
  session.on("error", () => undefined);
  const refused = session.request({ ":method": "POST", "content-encoding": "gzip" });
  refused.write("x");
  expect((await answerOf(refused)).rstCode).toBe(constants.NGHTTP2_INTERNAL_ERROR);
  session.settings({ initialWindowSize: 65_535 });
  expect((await ask(session, {})).body).toBe("x");
});

test("an HTTP/2 stream is whole and in order although its chunks are written in pieces", async () => {
  const chunks = ["ä".repeat(50_000), "b", Buffer.alloc(200_000, "c"), "d".repeat(64 * 1024 + 1), ""];
  async function* stream(): AsyncGenerator<string | Uint8Array> {
    yield* chunks;
  }
  const server = await opened.serve(() => fine(stream()));
  const answer = await ask(await opened.session(server), {});
  expect(answer.rstCode).toBe(0);
  expect(answer.body === chunks.join("")).toBe(true);
});
