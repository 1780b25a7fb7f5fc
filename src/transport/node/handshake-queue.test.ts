import { EventEmitter } from "node:events";
import { connect as connectTcp } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { connect as connectTls } from "node:tls";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { makeAuthority } from "../../../test/certificates.js";
import { DEFAULT_LIMITS } from "../limits.js";
import { HandshakeQueue } from "./handshake-queue.js";
import { listen } from "./listen.js";

class FakeSocket extends EventEmitter {
  destroyed = false;
  destroy(): void {
    this.destroyed = true;
    this.emit("close");
  }
}

function queueOf(limits: Partial<typeof DEFAULT_LIMITS> = {}) {
  const begun: string[] = [];
  const counts = { waiting: 0, refused: 0 };
  const queue = new HandshakeQueue(
    { ...DEFAULT_LIMITS, ...limits },
    {
      waiting: (change) => (counts.waiting += change),
      refused: () => counts.refused++,
    },
  );
  const add = (id: string, network: string): FakeSocket => {
    const socket = new FakeSocket();
    queue.add({ id, network, socket, begin: () => begun.push(id) });
    return socket;
  };
  return { queue, begun, counts, add };
}

describe("HandshakeQueue", () => {
  it("begins a few in each turn of the event loop, and all of them in the end", async () => {
    const { begun, counts, add } = queueOf();
    for (let index = 0; index < 50; index++) add(`${index}`, "a");
    const atOnce = begun.length;
    expect(atOnce).toBeGreaterThan(0);
    expect(atOnce).toBeLessThanOrEqual(16);
    expect(counts.waiting).toBe(50 - atOnce);
    for (let turns = 0; begun.length < 50 && turns < 50; turns++) {
      const before = begun.length;
      await nextTurn();
      expect(begun.length - before).toBeLessThanOrEqual(2 * atOnce);
    }
    expect(begun).toEqual(Array.from({ length: 50 }, (_, index) => `${index}`));
    expect(counts).toEqual({ waiting: 0, refused: 0 });
  });

  it("limits those in progress, in all and for each network", async () => {
    const { queue, begun, add } = queueOf({ handshakes: 3, handshakesPerNetwork: 2 });
    for (const [id, network] of [
      ["a1", "a"],
      ["a2", "a"],
      ["a3", "a"],
      ["b1", "b"],
      ["b2", "b"],
    ] as const)
      add(id, network);
    await nextTurn();
    expect(begun).toEqual(["a1", "a2", "b1"]);
    queue.done("a1");
    queue.done("b1");
    await nextTurn();
    expect(begun).toEqual(["a1", "a2", "b1", "a3", "b2"]);
  });

  it("lets networks take turns, so that many connections of one delay only that one", async () => {
    const { begun, add } = queueOf();
    for (let index = 0; index < 40; index++) add(`a${index}`, "a");
    add("b0", "b");
    const ahead = begun.length;
    for (let turns = 0; !begun.includes("b0") && turns < 50; turns++) await nextTurn();
    expect(begun.indexOf("b0")).toBeLessThanOrEqual(ahead + 1);
  });

  it("gives the place of a closed connection to the next, whether its handshake had begun or not", async () => {
    const { begun, counts, add } = queueOf({ handshakesPerNetwork: 1 });
    const [first, second] = [add("1", "a"), add("2", "a")];
    add("3", "a");
    second.destroy();
    expect(counts.waiting).toBe(1);
    first.destroy();
    await nextTurn();
    expect(begun).toEqual(["1", "3"]);
  });

  describe("with a clock", () => {
    beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
    afterEach(() => void vi.useRealTimers());

    it("closes and counts a connection whose turn does not come in time", () => {
      const { begun, counts, add } = queueOf({ handshakesPerNetwork: 1, headersMs: 5_000 });
      add("1", "a");
      const second = add("2", "a");
      vi.advanceTimersByTime(4_999);
      expect(second.destroyed).toBe(false);
      vi.advanceTimersByTime(1);
      expect(second.destroyed).toBe(true);
      expect(begun).toEqual(["1"]);
      expect(counts).toEqual({ waiting: 0, refused: 1 });
    });
  });
});

describe("a TLS listener", () => {
  it("lets connections wait while a network has its handshakes in progress, and serves them afterwards", async () => {
    const authority = await makeAuthority();
    const tls = await authority.issue({ hosts: ["127.0.0.1"] });
    const others = 20;
    let waiting = 0;
    let allWait = (): void => undefined;
    const wait = new Promise<void>((resolve) => {
      allWait = resolve;
    });
    const { port, close } = await listen(() => ({ status: 200, headers: {}, body: "ok" }), {
      port: 0,
      tls,
      limits: { ...DEFAULT_LIMITS, handshakesPerNetwork: 1 },
      handshakes: {
        waiting(change) {
          waiting += change;
          if (waiting === others) allWait();
        },
        refused: () => undefined,
      },
    });
    // The type of a handshake record, and nothing more of it.
    const unfinished = connectTcp({ port, host: "127.0.0.1" });
    await new Promise<void>((resolve) => unfinished.write(Buffer.from([0x16]), () => resolve()));
    await nextTurn();
    const answers = Array.from({ length: others }, () => get(port, authority.ca));
    await wait;
    unfinished.destroy();
    expect(await Promise.all(answers)).toEqual(Array.from({ length: others }, () => "HTTP/1.1 200"));
    expect(waiting).toBe(0);
    await close();
  });
});

/** The beginning of the answer. */
function get(port: number, ca: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    const socket = connectTls({ port, host: "127.0.0.1", ca, ALPNProtocols: ["http/1.1"] }, () =>
      socket.write("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"),
    );
    socket.on("data", (piece: Buffer) => (text += piece.toString()));
    socket.on("close", () => resolve(text.slice(0, "HTTP/1.1 200".length))).on("error", reject);
  });
}
