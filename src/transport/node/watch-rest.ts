import type { ServerResponse } from "node:http";

/**
 * What is written of an answer must also be taken: a peer that takes nothing for `stallMs` is cut. The socket's own timer
 * counts bytes that the peer takes as progress; a plain timer would cut slow readers of large answers.
 */
export function watchRest(res: ServerResponse, stallMs: number): void {
  // Nearly always the kernel has taken everything by now.
  if (res.writableLength === 0 || res.destroyed) return;
  const { socket } = res;
  if (socket === null) {
    // Behind another answer on the same connection; it is written right after it gets the socket.
    res.once("socket", () => process.nextTick(watchRest, res, stallMs));
    return;
  }
  const before = socket.timeout ?? 0;
  socket.setTimeout(stallMs);
  res.once("timeout", () => res.destroy());
  // Before the server's own listener, which begins to count how long the connection is idle.
  res.prependOnceListener("finish", () => socket.setTimeout(before));
}
