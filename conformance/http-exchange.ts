import { request as openRequest } from "node:http";
import { request as openSecureRequest } from "node:https";
import type { SecureContextOptions } from "node:tls";
import type { Exchange, HttpRequest, HttpResponse } from "../src/transport/exchange.js";
import { http2Exchange } from "./http2-exchange.js";

/**
 * The plainest way to send bytes to a URL: one connection per request, nothing added, nothing retried, nothing followed.
 * Requirements run over it, so that what they see is the server and not a client's kindness.
 */
export const httpExchange: Exchange = secureExchange({});

/** The same, with authorities to believe and a certificate to show. */
export function secureExchange(tls: SecureContextOptions): Exchange {
  return (request) => (wantsTrailers(request) ? http2Exchange(request, tls) : http1Exchange(request, tls));
}

/** Who asks for trailers speaks gRPC, whatever the rest of the request says. */
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
