import { describe, expect, test } from "vitest";
import { contractRequirements } from "../conformance/index.js";
import { AgentError, type Handler, isPromise } from "../src/envelope/index.js";
import type { Protocol } from "../src/public/protocols.js";
import type { Chunk, Session } from "../src/transport/exchange.js";
import { sessionToy } from "./session-toy/index.js";

/** What every protocol must do, done by one over sessions; and broken ones that are caught. */

describe("the contract, kept by the session toy", () => {
  for (const { id, behaviour, check } of contractRequirements)
    test(`${id}: ${behaviour}`, async () => {
      await expect(check(sessionToy)).resolves.toBeUndefined();
    });
});

/** The toy with its client half wrapped. */
function withClient(wrap: (handler: Handler, close: () => Promise<void>) => Handler): Protocol {
  return {
    ...sessionToy,
    connect(context) {
      const client = sessionToy.connect(context);
      return { ...client, handler: wrap(client.handler, () => client.close()) };
    },
  };
}

/** The toy whose server half does something else with some messages. */
function withServer(accept: (session: Session, own: (session: Session) => Promise<void>) => Promise<void>): Protocol {
  return {
    ...sessionToy,
    serve(host) {
      const served = sessionToy.serve(host);
      return { ...served, accept: (session) => accept(session, async (each) => served.accept?.(each)) };
    },
  };
}

const BROKEN: readonly { readonly what: string; readonly caught: string; readonly protocol: Protocol }[] = [
  {
    what: "crashes on a message that it does not know",
    caught: "contract:session:hostile-server",
    protocol: withServer(async (session) => {
      for await (const frame of session.frames) JSON.parse(String(frame)).args.message.toString();
    }),
  },
  {
    what: "takes anything for an answer",
    caught: "contract:session:hostile-client",
    protocol: withClient((handler) => async (operation, call) => {
      const reply = handler(operation, call);
      if (!isPromise(reply)) throw new AgentError("internal", "the operations of that check have one answer");
      return reply.catch(() => ({ kind: "done" }));
    }),
  },
  {
    what: "calls again in another session",
    caught: "contract:session:cut",
    protocol: withClient((handler) => async (operation, call) => {
      const again = (): Promise<never> => handler(operation, call) as Promise<never>; // as above
      return again().catch(again);
    }),
  },
  {
    what: "gives up after the first session",
    caught: "contract:session:cut",
    protocol: withClient((handler) => {
      let broken: unknown;
      return async (operation, call) => {
        if (broken !== undefined) throw broken;
        return (handler(operation, call) as Promise<never>).catch((thrown: unknown) => {
          broken = thrown;
          throw thrown;
        });
      };
    }),
  },
  {
    what: "does not pass a cancel on",
    caught: "contract:session:cancel",
    protocol: withServer((session, own) => own(reading(session, (frame) => !String(frame).startsWith('{"cancel"')))),
  },
  {
    what: "ends the session with a cancelled call",
    caught: "contract:session:cancel",
    protocol: withServer((session, own) =>
      own(
        reading(session, (frame) => {
          if (String(frame).startsWith('{"cancel"')) session.close(1000, "");
          return true;
        }),
      ),
    ),
  },
];

/** The session with only some of its messages. */
function reading(session: Session, wanted: (frame: Chunk) => boolean): Session {
  async function* frames(): AsyncGenerator<Chunk> {
    for await (const frame of session.frames) if (wanted(frame)) yield frame;
  }
  return {
    request: session.request,
    subprotocol: session.subprotocol,
    frames: frames(),
    send: (frame, call) => session.send(frame, call),
    assign: (frame, call) => session.assign(frame, call),
    markSealed: (seal) => session.markSealed(seal),
    hold: () => session.hold(),
    shutDown: (reason) => session.shutDown(reason),
    tap: (tap) => session.tap(tap),
    close: (code, reason) => session.close(code, reason),
    closed: session.closed,
  };
}

describe("a protocol over sessions that", () => {
  test.each(BROKEN)("$what is caught by $caught", async ({ caught, protocol }) => {
    const requirement = contractRequirements.find(({ id }) => id === caught);
    await expect(requirement?.check(protocol)).rejects.toThrow();
  });
});
