import type { Link } from "../../src/public/protocols.js";
import { DEFAULT_LIMITS } from "../../src/transport/limits.js";
import { poolLink } from "../../src/transport/node/index.js";

/** One request and its response, as sent on the wire. */
export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly headers: { readonly [name: string]: string | undefined };
  readonly body: string;
  readonly status: number;
  readonly contentType: string;
  /** The response so far; a stream grows. */
  readonly answer: string;
}

type Growing = { -readonly [member in keyof Seen]: Seen[member] };

/** A real connection that records its traffic. */
export function recordingLink(): { readonly link: Link; readonly seen: readonly Seen[] } {
  const seen: Growing[] = [];
  const inner = poolLink({ limits: DEFAULT_LIMITS });
  const decode = (chunk: string | Uint8Array): string =>
    typeof chunk === "string" ? chunk : Buffer.from(chunk).toString("latin1");
  const link: Link = {
    async exchange(request) {
      const response = await inner.exchange(request);
      const { method, target, headers, body } = request;
      const record: Growing = {
        method,
        path: target.replace(/^https?:\/\/[^/]+/, ""),
        headers,
        body: Buffer.from(body).toString("latin1"),
        status: response.status,
        contentType: response.headers["content-type"] ?? "",
        answer: "",
      };
      seen.push(record);
      const chunks = response.body;
      if (chunks === undefined) return response;
      if (typeof chunks === "string" || chunks instanceof Uint8Array) {
        record.answer = decode(chunks);
        return response;
      }
      async function* watched(stream: typeof chunks & AsyncIterable<string | Uint8Array>) {
        for await (const chunk of stream) {
          record.answer += decode(chunk);
          yield chunk;
        }
      }
      // Some members are inherited, so a copy would lack them.
      const { status, headers: responseHeaders } = response;
      return { status, headers: responseHeaders, body: watched(chunks), trailers: () => response.trailers?.() ?? {} };
    },
    close: () => inner.close(),
  };
  return { link, seen };
}
