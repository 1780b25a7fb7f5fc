import type { Subject } from "../src/protocols/requirement.js";
import { openSession } from "../src/transport/links.js";
import { poolLink } from "../src/transport/node/index.js";
import type { ClientTls } from "../src/transport/node/tls.js";
import { makeRequest } from "../src/transport/request.js";

/** Opens WebSocket sessions for requirements, each on a connection of its own. `headers` as in every other request. */
export function sessionOpener(headers: Subject["headers"], tls: ClientTls | undefined): NonNullable<Subject["openSession"]> {
  return async (url, subprotocols) => {
    const link = poolLink(tls === undefined ? {} : { tls });
    try {
      const session = await openSession(link, makeRequest({ method: "GET", url, headers }), subprotocols);
      void session.closed.then(() => link.close());
      return session;
    } catch (thrown) {
      await link.close();
      throw thrown;
    }
  };
}
