import { request as openRequest } from "node:http";
import { request as openSecureRequest } from "node:https";
import type { SecureContextOptions } from "node:tls";
import type { Exchange, HttpRequest, HttpResponse } from "../src/transport/exchange.js";
import { http2Exchange } from "./http2-exchange.js";

/**
 * Minimal HTTP: one connection per request, no added headers, no retries, no redirects. Requirements use it so that they test
 * the server and not a client.
 */
export const httpExchange: Exchange = secureExchange({});

/** The same with trusted authorities and a client certificate. */
export function secureExchange(tls: SecureContextOptions): Exchange {
  return (request) => (wantsTrailers(request) ? http2Exchange(request, tls) : http1Exchange(request, tls));
}

/** A request for trailers is gRPC, so it needs HTTP/2. */
function wantsTrailers({ headers }: HttpRequest): boolean {
  return headers["te"] === "trailers";
}

function http1Exchange(request: HttpRequest, tls: SecureContextOptions): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    const open = request.target.startsWith("https:") ? openSecureRequest : openRequest;
    const headers = { ...request.headers, ...(needsLength(request) ? { "content-length": request.body.length } : {}) };
    const outgoing = open(request.target, { ...tls, method: request.method, headers, agent: false }, (incoming) => {
      const received: { [name: string]: string | undefined } = {};
      for (const [name, value] of Object.entries(incoming.headers))
        received[name] = Array.isArray(value) ? value.join(", ") : value;
      resolve({ status: incoming.statusCode ?? 0, headers: received, body: incoming });
    });
    outgoing.on("error", reject);
    request.cancel.onCancel((reason) => outgoing.destroy(reason));
    outgoing.end(request.body);
  });
}

function needsLength({ method, body }: HttpRequest): boolean {
  return body.length > 0 || method === "POST" || method === "PUT";
}
