import { EventEmitter } from "node:events";
import type { Socket } from "node:net";
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

function hear(): { readonly socket: Listened; readonly heard: (WireProtocol | undefined)[] } {
  const socket = new Listened();
  const heard: (WireProtocol | undefined)[] = [];
  sniff(socket as unknown as Socket, 60_000, (spoken) => heard.push(spoken)); // as much of one as it uses
  return { socket, heard };
}

describe("sniff", () => {
  test.each([
    ["http2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
    ["http1", "POST / HTTP/1.1\r\n\r\n"],
    ["http1", "PRINT"],
    ["tls", "\x16\x03\x01"],
  ])("%s is detected wherever its first bytes are cut, and all of them are put back once", (spoken, text) => {
    for (let at = 1; at <= text.length; at++) {
      const { socket, heard } = hear();
      socket.say(text.slice(0, at));
      if (at < text.length) socket.say(text.slice(at));
      expect(heard).toEqual([spoken]);
      expect(text.startsWith(socket.putBack.join(""))).toBe(true);
      expect(socket.putBack).toHaveLength(1);
    }
  });

  test("nothing is put back while the first bytes could become either", () => {
    const { socket, heard } = hear();
    socket.say("P");
    expect([heard, socket.putBack]).toEqual([[], []]);
    socket.say("OST");
    expect([heard, socket.putBack]).toEqual([["http1"], ["POST"]]);
    expect(socket.eventNames()).toEqual([]);
  });

  test("a socket that closes early has no protocol", () => {
    const { socket, heard } = hear();
    socket.destroy();
    expect(heard).toEqual([undefined]);
  });
});
