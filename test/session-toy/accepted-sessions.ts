import type { Protocol } from "../../src/public/protocols.js";
import type { Session } from "../../src/transport/exchange.js";
import { sessionToy } from "./index.js";

/** A protocol, by default the toy, with the sessions that its servers have accepted. */
export function recordSessions(accepted: Session[], protocol: Protocol = sessionToy): Protocol {
  return {
    ...protocol,
    serve(host) {
      const served = protocol.serve(host);
      return {
        ...served,
        async accept(session) {
          accepted.push(session);
          await served.accept?.(session);
        },
      };
    },
  };
}
