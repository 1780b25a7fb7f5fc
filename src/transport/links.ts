import { AgentError, type Awaitable } from "../envelope/index.js";
import type { HttpRequest, Link, Session } from "./exchange.js";

/** A link that changes every request, also those that open a session. */
export function changeRequests(link: Link, change: (request: HttpRequest) => Awaitable<HttpRequest>): Link {
  const { open } = link;
  return {
    exchange(request) {
      const changed = change(request);
      return changed instanceof Promise ? changed.then((late) => link.exchange(late)) : link.exchange(changed);
    },
    ...(open === undefined
      ? undefined
      : { open: async (request, subprotocols) => open.call(link, await change(request), subprotocols) }),
    close: () => link.close(),
  };
}

/** Opens a session. Throws `unsupported` if the link has none. */
export function openSession(link: Link, request: HttpRequest, subprotocols: readonly string[]): Promise<Session> {
  if (link.open === undefined)
    return Promise.reject(new AgentError("unsupported", "this transport has no sessions", { sent: "no" }));
  return link.open(request, subprotocols);
}
