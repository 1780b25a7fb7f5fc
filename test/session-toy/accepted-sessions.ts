import type { Protocol } from "../../src/public/protocols.js";
import type { Session } from "../../src/transport/exchange.js";
import { sessionToy } from "./index.js";

/** The toy, with the sessions that its servers have accepted. */
export function recordSessions(accepted: Session[]): Protocol {
  return {
    ...sessionToy,
    serve(host) {
      const served = sessionToy.serve(host);
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
