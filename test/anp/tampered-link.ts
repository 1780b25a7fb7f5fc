import type { HttpRequest, Link } from "../../src/transport/exchange.js";
import { poolLink } from "../../src/transport/node/index.js";
import { makeRequest } from "../../src/transport/request.js";
import { signRequest } from "../../src/transport/sign.js";

/** A link on which somebody changes bodies after they were signed. */
export function tamperedLink(change: (body: string) => string): Link {
  const link = poolLink();
  return {
    async exchange(request: HttpRequest) {
      const { method, target, headers, body, call } = await signRequest(request);
      const changed = change(Buffer.from(body).toString());
      return link.exchange(makeRequest({ method, url: target, headers, body: changed === "" ? undefined : changed, call }));
    },
    close: () => link.close(),
  };
}
