import type { ServerResponse } from "node:http";

/**
 * Disconnects a peer that reads nothing of a finished response for `stallMs`. The socket's own timer counts acknowledged bytes as
 * progress; a plain timer would disconnect slow readers of large responses.
 */
export function watchFlush(res: ServerResponse, stallMs: number): void {
  // Usually everything has been flushed to the kernel already.
  if (res.writableLength === 0 || res.destroyed) return;
  const { socket } = res;
  if (socket === null) {
    // Pipelined behind another response; it is written as soon as it gets the socket.
    res.once("socket", () => process.nextTick(watchFlush, res, stallMs));
    return;
  }
  const previousTimeout = socket.timeout ?? 0;
  socket.setTimeout(stallMs);
  res.once("timeout", () => res.destroy());
  // Before the server's own listener, which starts the keep-alive timer.
  res.prependOnceListener("finish", () => socket.setTimeout(previousTimeout));
}
