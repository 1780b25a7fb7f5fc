import { AgentError } from "../../../envelope/index.js";
import type { SignedRequest } from "../../../security/signatures/index.js";

/** Limits of a request in a file. */
const LIMITS = { headBytes: 64 * 1024, bodyBytes: 16 * 1024 * 1024 } as const;
const REQUEST_LINE = /^([A-Z]{1,20}) (\S{1,8192}) HTTP\/1\.[01]$/;
const FIELD = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[ \t]*(.*?)[ \t]*$/;

/** A request with its body. */
export interface CapturedRequest {
  readonly request: SignedRequest;
  readonly body: Uint8Array;
}

/**
 * Reads an HTTP/1.1 request as it is on the wire: its head, an empty line, its body without a transfer coding. Lines may end in LF. A
 * request line without a host is for the one in the field Host, by https.
 */
export function readHttpRequest(bytes: Uint8Array): CapturedRequest {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, LIMITS.headBytes)).toString("latin1");
  const [, head = "", gap = ""] = /^([\s\S]*?)(\r?\n\r?\n)/.exec(text) ?? [];
  if (gap === "") throw invalid("it has no empty line after its head");
  const body = bytes.subarray(head.length + gap.length);
  if (body.byteLength > LIMITS.bodyBytes) throw invalid(`its body has more than ${LIMITS.bodyBytes} bytes`);
  const [first = "", ...lines] = head.split(/\r?\n/);
  const [, method, path] = REQUEST_LINE.exec(first) ?? [];
  if (method === undefined || path === undefined) throw invalid("its first line is not METHOD TARGET HTTP/1.1");
  const headers = fieldsOf(lines);
  const target = path.startsWith("/") ? `https://${headers["host"] ?? ""}${path}` : path;
  if (!URL.canParse(target)) throw invalid("it has neither a field Host nor an absolute target");
  return { request: { method, target, headers }, body };
}

function fieldsOf(lines: readonly string[]): { readonly [name: string]: string } {
  const fields = new Map<string, string>();
  for (const line of lines) {
    const [, name, value = ""] = FIELD.exec(line) ?? [];
    if (name === undefined) throw invalid(`the line ${JSON.stringify(line.slice(0, 80))} is not a field`);
    const before = fields.get(name.toLowerCase());
    fields.set(name.toLowerCase(), before === undefined ? value : `${before}, ${value}`);
  }
  return Object.fromEntries(fields);
}

function invalid(problem: string): AgentError {
  return new AgentError("invalid_message", `the file is not an HTTP request: ${problem}`, { sent: "no" });
}
