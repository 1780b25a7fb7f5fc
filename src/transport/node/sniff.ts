import type { Socket } from "node:net";

/** The protocol that the first bytes of a connection belong to. */
export type WireProtocol = "http1" | "http2" | "tls";

/** RFC 9113 §3.4: the HTTP/2 connection preface differs from every HTTP/1 method. */
const PREFACE = Buffer.from("PRI ");

const NOTHING = Buffer.alloc(0);

/** RFC 8446 §5.1: the handshake record type, which no HTTP method starts with. */
const HANDSHAKE = 0x16;

/**
 * Reads the first bytes of a connection under a timer, puts them back and reports the protocol; undefined if nothing arrived in time
 * or the socket closed. A silent socket is destroyed.
 */
export function sniff(socket: Socket, firstByteMs: number, onProtocol: (protocol: WireProtocol | undefined) => void): void {
  const timer = setTimeout(() => {
    cleanUp();
    socket.destroy();
    onProtocol(undefined);
  }, firstByteMs);

  function cleanUp(): void {
    clearTimeout(timer);
    socket.off("readable", onReadable);
    socket.off("close", onClose);
    socket.off("error", ignore);
  }

  function onClose(): void {
    cleanUp();
    onProtocol(undefined);
  }

  let first: Buffer = NOTHING;
  function onReadable(): void {
    let protocol: WireProtocol | undefined;
    while (protocol === undefined) {
      // Since Node 26 one chunk of those that wait, and no further event for the others.
      const more: Buffer | null = socket.read();
      if (more === null) return;
      first = first.length === 0 ? more : Buffer.concat([first, more]);
      protocol = protocolOf(first);
    }
    cleanUp();
    // Only now: data that is put back is readable at once, and reading the same bytes repeatedly would block the event loop.
    socket.unshift(first);
    onProtocol(protocol);
  }

  socket.on("readable", onReadable);
  socket.on("close", onClose);
  socket.on("error", ignore);
}

/** Undefined while the bytes are only a prefix of the preface. */
function protocolOf(first: Buffer): WireProtocol | undefined {
  if (first[0] === HANDSHAKE) return "tls";
  const compared = Math.min(first.length, PREFACE.length);
  if (!first.subarray(0, compared).equals(PREFACE.subarray(0, compared))) return "http1";
  return compared === PREFACE.length ? "http2" : undefined;
}

/** A socket error before the first byte needs no report. */
function ignore(): void {}
