import type { IncomingMessage } from "node:http";
import { AgentError } from "../../envelope/index.js";
import type { HttpResponse } from "../exchange.js";
import { splitTarget } from "../request.js";
import { errorResponse } from "../response.js";

/** Refuses HTTP/1.1 messages that Node accepts and that another server on the path may read differently. */
export function refuseMessage({ rawHeaders, headers, url = "/" }: IncomingMessage): HttpResponse | undefined {
  if (countHosts(rawHeaders) > 1) return refuse("the request has more than one Host header");
  const encoding = headers["transfer-encoding"];
  // RFC 9112 §6.1: any other coding would have to be decoded, and its end is where the next request begins.
  if (encoding !== undefined && encoding.toLowerCase() !== "chunked")
    return refuse("transfer-encoding must be chunked, and nothing else");
  return url.charCodeAt(0) === 0x2f || namesHost(url, headers.host)
    ? undefined
    : refuse("the request target names another host than the Host header");
}

function countHosts(rawHeaders: readonly string[]): number {
  let hosts = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string; // index < length
    if (name.length === 4 && name.toLowerCase() === "host") hosts++;
  }
  return hosts;
}

/** A target in another form than absolute names no host. */
function namesHost(url: string, host: string | undefined): boolean {
  const { origin } = splitTarget(url);
  return origin === "" || origin.slice(origin.indexOf("://") + 3).toLowerCase() === host?.toLowerCase();
}

function refuse(message: string): HttpResponse {
  return errorResponse(400, new AgentError("invalid_message", message));
}
