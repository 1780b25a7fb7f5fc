import type { Socket } from "node:net";

/** What the first bytes of a connection are the beginning of. */
export type WireProtocol = "http1" | "http2" | "tls";

/** RFC 9113 §3.4: the connection preface of HTTP/2 with prior knowledge starts like no HTTP/1 method. */
const PREFACE = Buffer.from("PRI ");

const NOTHING = Buffer.alloc(0);

/** RFC 8446 §5.1: the record type of a handshake, which no HTTP method begins with. */
const HANDSHAKE = 0x16;

/**
 * Reads the first bytes of a connection under a timer, puts them back, and says what they are; undefined when nothing was
 * said in time or the socket closed before. A socket that stays silent is destroyed.
 */
export function sniff(socket: Socket, firstByteMs: number, heard: (spoken: WireProtocol | undefined) => void): void {
  const timer = setTimeout(() => {
    leave();
    socket.destroy();
    heard(undefined);
  }, firstByteMs);

  function leave(): void {
    clearTimeout(timer);
    socket.off("readable", look);
    socket.off("close", gone);
    socket.off("error", ignore);
  }

  function gone(): void {
    leave();
    heard(undefined);
  }

  let first: Buffer = NOTHING;
  function look(): void {
    const more: Buffer | null = socket.read();
    if (more === null) return;
    first = first.length === 0 ? more : Buffer.concat([first, more]);
    const spoken = spokenBy(first);
    if (spoken === undefined) return;
    leave();
    // Only now: what is put back is readable at once, and looking at the same bytes again and again would stop everything else.
    socket.unshift(first);
    heard(spoken);
  }

  socket.on("readable", look);
  socket.on("close", gone);
  socket.on("error", ignore);
}

/** Undefined while there are fewer bytes than the preface and all of them fit: the next ones decide. */
function spokenBy(first: Buffer): WireProtocol | undefined {
  if (first[0] === HANDSHAKE) return "tls";
  const compared = Math.min(first.length, PREFACE.length);
  if (!first.subarray(0, compared).equals(PREFACE.subarray(0, compared))) return "http1";
  return compared === PREFACE.length ? "http2" : undefined;
}

/** A socket that breaks before it said anything is nobody's error. */
function ignore(): void {}
