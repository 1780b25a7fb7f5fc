import type { HttpRequest, HttpResponse, Link } from "../../src/transport/exchange.js";
import { poolLink } from "../../src/transport/node/index.js";
import { makeRequest } from "../../src/transport/request.js";
import { signRequest } from "../../src/transport/sign.js";

/** A link that keeps the signed request with a message instead of sending it: what somebody on the way has. */
export function capturingLink(): Link & { readonly captured: HttpRequest[] } {
  const link = poolLink();
  const captured: HttpRequest[] = [];
  return {
    captured,
    async exchange(request) {
      if (!Buffer.from(request.body).includes('"SendMessage"')) return link.exchange(request);
      captured.push(await signRequest(request));
      throw new Error("captured");
    },
    close: () => link.close(),
  };
}

/** A link on which somebody changes answers before the caller verifies them. */
export function alteringLink(
  change: (response: HttpResponse, request: HttpRequest) => HttpResponse | Promise<HttpResponse>,
): Link {
  const link = poolLink();
  return {
    async exchange(request) {
      if (!Buffer.from(request.body).includes("Message")) return link.exchange(request);
      const final = await signRequest(request);
      const { method, target, headers, body, call } = final;
      const answer = await link.exchange(makeRequest({ method, url: target, headers, body, call }));
      const changed = await change({ status: answer.status, headers: answer.headers, body: answer.body }, final);
      return request.signer?.verify === undefined ? changed : request.signer.verify(changed, final);
    },
    close: () => link.close(),
  };
}
