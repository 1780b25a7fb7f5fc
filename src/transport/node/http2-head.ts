import type { IncomingHttpHeaders as Http1Headers } from "node:http";
import type { IncomingHttpHeaders } from "node:http2";
import type { Socket } from "node:net";
import { AgentError } from "../../envelope/index.js";
import type { HttpResponse } from "../exchange.js";
import { errorResponse } from "../response.js";
import { ordinaryFields } from "./http2-fields.js";
import { type Address, addressOf, type MessageHead } from "./incoming-request.js";

/** The head of an HTTP/2 request in HTTP/1.1 form: the authority as `host`, without pseudo headers. */
export class Http2Head implements MessageHead {
  readonly method: string;
  readonly headers: Http1Headers;
  readonly socket: Socket;
  readonly #raw: readonly string[];

  constructor(fields: IncomingHttpHeaders, raw: readonly string[], socket: Socket) {
    this.method = fields[":method"] ?? "GET"; // Node refuses requests without it
    this.headers = ordinaryFields(fields);
    this.headers.host ??= fields[":authority"];
    this.socket = socket;
    this.#raw = raw;
  }

  /** Pseudo headers come first (RFC 9113 §8.3); the rest are ordinary. */
  get rawHeaders(): readonly string[] {
    const raw = this.#raw;
    let first = 0;
    while (raw[first]?.charCodeAt(0) === 0x3a) first += 2;
    return raw.slice(first);
  }
}

/** The address of an HTTP/2 request; its URL is always absolute. */
export function http2Address(fields: IncomingHttpHeaders, head: Http2Head): Address {
  const target = fields[":path"] ?? "/";
  const { path, query } = addressOf(target);
  return { url: `${fields[":scheme"]}://${head.headers.host ?? ""}${target}`, path, query };
}

/** Refuses requests that Node accepts but this server cannot serve. */
export function refuseHead(fields: IncomingHttpHeaders): HttpResponse | undefined {
  if (fields[":method"] === "CONNECT") {
    return errorResponse(
      405,
      new AgentError("unsupported", "this is not a proxy: CONNECT is not supported; for a WebSocket use HTTP/1.1"),
    );
  }
  const scheme = fields[":scheme"];
  if (scheme !== "http" && scheme !== "https") {
    return errorResponse(400, new AgentError("invalid_message", ":scheme must be http or https"));
  }
  const authority = fields[":authority"];
  // RFC 9113 §8.3.1: two different names for one server could bypass a check of one of them.
  if (authority !== undefined && fields.host !== undefined && fields.host !== authority) {
    return errorResponse(400, new AgentError("invalid_message", ":authority and host name different servers"));
  }
  return undefined;
}
