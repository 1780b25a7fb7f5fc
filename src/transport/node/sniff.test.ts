import { EventEmitter } from "node:events";
import type { Socket } from "node:net";
import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import { sniff, type WireProtocol } from "./sniff.js";

/** The subset of a socket that sniff uses; data that is put back is counted and not emitted again. */
class Listened extends EventEmitter {
  #waiting: Buffer | null = null;
  readonly putBack: string[] = [];

  say(text: string): void {
    this.#waiting = Buffer.from(text, "latin1");
    this.emit("readable");
  }

  read(): Buffer | null {
    const waiting = this.#waiting;
    this.#waiting = null;
    return waiting;
  }

  unshift(bytes: Buffer): void {
    this.putBack.push(bytes.toString("latin1"));
  }

  destroy(): void {
    this.emit("close");
  }
}

function startSniffing(): { readonly socket: Listened; readonly detected: (WireProtocol | undefined)[] } {
  const socket = new Listened();
  const detected: (WireProtocol | undefined)[] = [];
  sniff(socket as unknown as Socket, 60_000, (protocol) => detected.push(protocol)); // as much of one as it uses
  return { socket, detected };
}

describe("sniff", () => {
  test.each([
    ["http2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
    ["http1", "POST / HTTP/1.1\r\n\r\n"],
    ["http1", "PRINT"],
    ["tls", "\x16\x03\x01"],
  ])("%s is detected wherever its first bytes are cut, and all of them are put back once", (protocol, text) => {
    for (let at = 1; at <= text.length; at++) {
      const { socket, detected } = startSniffing();
      socket.say(text.slice(0, at));
      if (at < text.length) socket.say(text.slice(at));
      expect(detected).toEqual([protocol]);
      expect(text.startsWith(socket.putBack.join(""))).toBe(true);
      expect(socket.putBack).toHaveLength(1);
    }
  });

  test("nothing is put back while the first bytes could become either", () => {
    const { socket, detected } = startSniffing();
    socket.say("P");
    expect([detected, socket.putBack]).toEqual([[], []]);
    socket.say("OST");
    expect([detected, socket.putBack]).toEqual([["http1"], ["POST"]]);
    expect(socket.eventNames()).toEqual([]);
  });

  test("all bytes that wait are read, in however many chunks the stream returns them", async () => {
    const stream = new PassThrough();
    const detected: (WireProtocol | undefined)[] = [];
    stream.write("P");
    stream.write("OST / HTTP/1.1\r\n\r\n");
    sniff(stream as unknown as Socket, 60_000, (protocol) => detected.push(protocol)); // as much of one as it uses
    await new Promise((resolve) => setImmediate(resolve));
    expect(detected).toEqual(["http1"]);
    expect(String(stream.read(stream.readableLength))).toBe("POST / HTTP/1.1\r\n\r\n");
    stream.destroy();
  });

  test("a socket that closes early has no protocol", () => {
    const { socket, detected } = startSniffing();
    socket.destroy();
    expect(detected).toEqual([undefined]);
  });
});
