import type { Socket } from "node:net";

/** RFC 9113 §3.4: the connection preface of HTTP/2 with prior knowledge starts like no HTTP/1 method. */
const PREFACE = Buffer.from("PRI ");

export interface Sniffed {
  http1(socket: Socket): void;
  http2(socket: Socket): void;
  /** Nothing was said in time, or the socket closed before it said anything. */
  nothing(socket: Socket): void;
}

/** Reads the first bytes of a connection under a timer, puts them back, and hands the socket to whom it concerns. */
export function sniff(socket: Socket, firstByteMs: number, to: Sniffed): void {
  const timer = setTimeout(() => {
    leave();
    socket.destroy();
    to.nothing(socket);
  }, firstByteMs);

  function leave(): void {
    clearTimeout(timer);
    socket.off("readable", look);
    socket.off("close", gone);
    socket.off("error", ignore);
  }

  function gone(): void {
    leave();
    to.nothing(socket);
  }

  function look(): void {
    const first: Buffer | null = socket.read();
    if (first === null) return;
    socket.unshift(first);
    // Fewer bytes than the preface, and all of them fit: the next ones decide.
    if (first.length < PREFACE.length && first.equals(PREFACE.subarray(0, first.length))) return;
    leave();
    if (first.length >= PREFACE.length && first.subarray(0, PREFACE.length).equals(PREFACE)) to.http2(socket);
    else to.http1(socket);
  }

  socket.on("readable", look);
  socket.on("close", gone);
  socket.on("error", ignore);
}

/** A socket that breaks before it said anything is nobody's error. */
function ignore(): void {}
