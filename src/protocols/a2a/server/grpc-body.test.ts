import { constants } from "node:http2";
import { afterEach, describe, expect, test } from "vitest";
import { gate, Opened } from "../../../../test/helpers/sockets.js";
import { AgentError, type AgentEvent, type ReadyIterator, TAKE_READY } from "../../../envelope/index.js";
import { NO_DEADLINE } from "./call-deadline.js";
import { GrpcBody } from "./grpc-body.js";

const opened = new Opened();
afterEach(() => opened.close());

const working = { kind: "done" } as AgentEvent; // its content does not matter here
const FRAME = new Uint8Array(16 * 1024);

describe("a stream of messages", () => {
  test("is not pulled ahead of a peer that does not read, and continues when it does", async () => {
    let pulled = 0;
    const stopped = gate();
    async function* events(): AsyncGenerator<AgentEvent> {
      try {
        for (;;) {
          pulled++;
          yield working;
          await new Promise((resolve) => setImmediate(resolve));
        }
      } finally {
        stopped.open();
      }
    }
    const server = await opened.serve(async () => {
      const body = new GrpcBody({ events: events(), deadline: NO_DEADLINE, frame: () => FRAME, failure: () => ({}) });
      await body.begin();
      return { status: 200, headers: {}, body, trailers: () => body.trailers };
    });
    const stream = (await opened.session(server)).request({});
    stream.on("error", () => undefined);
    await new Promise((resolve) => stream.once("response", resolve));
    // Unbounded pulling would continue in every turn of the event loop.
    let quietTurns = 0;
    while (quietTurns < 200) {
      const before = pulled;
      await new Promise((resolve) => setImmediate(resolve));
      quietTurns = before === pulled ? quietTurns + 1 : 0;
      // The default window is 64 KiB, and the stream is shorter.
      expect(pulled).toBeLessThan(32);
    }
    const stood = pulled;
    let read = 0;
    await new Promise<void>((resolve) => {
      stream.on("data", (piece: Buffer) => {
        read += piece.length;
        if (read > 100 * FRAME.length) resolve();
      });
    });
    expect(pulled).toBeGreaterThan(stood + 50);
    stream.close(constants.NGHTTP2_CANCEL);
    await stopped.passed;
  });

  test("that fails has its status in the trailers, and stops its source", async () => {
    let returned = 0;
    const events: AsyncIterator<AgentEvent> = {
      next: async () => ({ done: false, value: working }),
      async return() {
        returned++;
        return { done: true, value: undefined };
      },
    };
    let frames = 0;
    const body = new GrpcBody({
      events,
      deadline: NO_DEADLINE,
      frame() {
        if (++frames === 2) throw new AgentError("encode", "no");
        return FRAME;
      },
      failure: ({ code }) => ({ "grpc-status": code }),
    });
    await body.begin();
    expect((await body.next()).value).toBe(FRAME);
    expect(await body.next()).toEqual({ done: true, value: undefined });
    expect([body.trailers, returned]).toEqual([{ "grpc-status": "encode" }, 1]);
    await body.return();
    expect([await body.next(), returned]).toEqual([{ done: true, value: undefined }, 1]);
  });

  /** `ready` events at once, after the first one. */
  function burst(ready: number): ReadyIterator<AgentEvent> {
    let left = ready;
    return {
      next: async () => ({ done: false, value: working }),
      [TAKE_READY]: () => (left-- > 0 ? working : undefined),
    };
  }

  test("gives the messages of a burst without a promise each, and none before the first", async () => {
    const body = new GrpcBody({ events: burst(2), deadline: NO_DEADLINE, frame: () => FRAME, failure: () => ({}) });
    await body.begin();
    expect(body[TAKE_READY]()).toBeUndefined();
    expect((await body.next()).value).toBe(FRAME);
    expect([body[TAKE_READY](), body[TAKE_READY](), body[TAKE_READY]()]).toEqual([FRAME, FRAME, undefined]);
    await body.return();
    expect(body[TAKE_READY]()).toBeUndefined();
  });

  test("that fails within a burst has its status in the trailers", async () => {
    let frames = 0;
    const frame = () => {
      if (++frames === 3) throw new AgentError("encode", "no");
      return FRAME;
    };
    const failure = ({ code }: AgentError) => ({ "grpc-status": code });
    const body = new GrpcBody({ events: burst(5), deadline: NO_DEADLINE, frame, failure });
    await body.begin();
    await body.next();
    expect([body[TAKE_READY](), body[TAKE_READY](), body[TAKE_READY]()]).toEqual([FRAME, undefined, undefined]);
    expect(await body.next()).toEqual({ done: true, value: undefined });
    expect(body.trailers).toEqual({ "grpc-status": "encode" });
  });
});
