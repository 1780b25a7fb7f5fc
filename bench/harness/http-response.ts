/** The position of one HTTP/1.1 response in a buffer. */
export interface ResponseSpan {
  readonly status: number;
  readonly bodyStart: number;
  /** One past the last byte of the response, chunk framing included. */
  readonly end: number;
}

const HEAD_END = Buffer.from("\r\n\r\n");
const CONTENT_LENGTH = /\r\ncontent-length: *(\d+)/i;
const CHUNKED = /\r\ntransfer-encoding: *chunked/i;

/** Finds the first response in the buffer; undefined while it is incomplete. Supports only what our own test servers send. */
export function findResponse(buffer: Buffer): ResponseSpan | undefined {
  const headEnd = buffer.indexOf(HEAD_END);
  if (headEnd < 0) return undefined;
  const head = buffer.toString("latin1", 0, headEnd);
  const status = Number(head.slice(9, 12));
  const bodyStart = headEnd + HEAD_END.length;
  const length = CONTENT_LENGTH.exec(head)?.[1];
  if (length !== undefined) {
    const end = bodyStart + Number(length);
    return end <= buffer.length ? { status, bodyStart, end } : undefined;
  }
  if (!CHUNKED.test(head)) throw new Error("a response without length");
  const end = endOfChunks(buffer, bodyStart);
  return end === undefined ? undefined : { status, bodyStart, end };
}

function endOfChunks(buffer: Buffer, start: number): number | undefined {
  for (let at = start; ; ) {
    const lineEnd = buffer.indexOf("\r\n", at, "latin1");
    if (lineEnd < 0) return undefined;
    const size = Number.parseInt(buffer.toString("latin1", at, lineEnd), 16);
    if (!Number.isFinite(size)) throw new Error("a chunk without size");
    at = lineEnd + 2 + size + 2;
    if (at > buffer.length) return undefined;
    if (size === 0) return at;
  }
}
