/** Error codes of a connection that was open, of Node and of undici. */
const CLOSED_CODES: ReadonlySet<unknown> = new Set(["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"]);

/** Whether this is the error of a connection that its other side closed. */
export function isClosedConnection(error: unknown): boolean {
  return error instanceof Error && "code" in error && CLOSED_CODES.has(error.code);
}
