import { describe, expect, test } from "vitest";
import type { AgentEvent, Handler } from "../src/envelope/index.js";
import { isPromise } from "../src/envelope/index.js";
import { type Protocol, protocols } from "../src/protocols/index.js";
import { contractRequirements } from "./contract.js";

// The host of the contract has no identity.
for (const protocol of protocols.filter(({ needsIdentity }) => needsIdentity !== true))
  describe(`the contract, kept by ${protocol.id}`, () => {
    for (const { id, behaviour, check } of contractRequirements)
      test(`${id}: ${behaviour}`, async () => {
        await expect(check(protocol)).resolves.toBeUndefined();
      });
  });

const real = firstOf(protocols);

function firstOf([first]: readonly Protocol[]): Protocol {
  if (first === undefined) throw new Error("no protocol is registered");
  return first;
}

/** The real protocol with its client half wrapped. */
function withClient(wrap: (handler: Handler, ...rest: Parameters<Protocol["connect"]>) => Handler): Protocol {
  return {
    ...real,
    connect(context) {
      const client = real.connect(context);
      return { ...client, handler: wrap(client.handler, context) };
    },
  };
}

/** Every event of a stream through a change; undefined leaves it out. */
function changing(change: (event: AgentEvent, index: number) => AgentEvent | undefined): Protocol {
  return withClient((handler) => (operation, call) => {
    const reply = handler(operation, call);
    if (isPromise(reply)) return reply;
    return (async function* () {
      let index = 0;
      for await (const event of reply) {
        const changed = change(event, index++);
        if (changed !== undefined) yield changed;
      }
    })();
  });
}

const BROKEN: readonly { readonly what: string; readonly caught: string; readonly protocol: Protocol }[] = [
  {
    what: "tries again by itself",
    caught: "contract:retry:never",
    protocol: withClient((handler) => async (operation, call) => {
      try {
        return await (handler(operation, call) as Promise<AgentEvent>); // the operations of that check have one answer
      } catch {
        return await (handler(operation, call) as Promise<AgentEvent>); // as above
      }
    }),
  },
  {
    what: "loses an event",
    caught: "contract:stream:order",
    protocol: changing((event, index) => (index === 1 ? undefined : event)),
  },
  {
    what: "answers a ping by itself",
    caught: "contract:ping:round-trip",
    protocol: withClient(
      (handler) => (operation, call) =>
        operation.kind === "ping" ? Promise.resolve({ kind: "done" }) : handler(operation, call),
    ),
  },
  {
    what: "finds itself everywhere",
    caught: "contract:discover:web-page",
    protocol: { ...real, discover: async () => ({ peers: [], evidence: ["sure"], proved: true }) },
  },
  { what: "finds itself nowhere", caught: "contract:discover:found", protocol: { ...real, discover: async () => undefined } },
  {
    what: "throws at a foreign answer",
    caught: "contract:discover:broken",
    protocol: { ...real, discover: async () => Promise.reject(new SyntaxError("unexpected end")) },
  },
  {
    what: "says it carries what it drops",
    caught: "contract:context:carried",
    protocol: withClient(
      (handler) => (operation, call) =>
        handler(operation.kind === "send" ? { ...operation, envelope: { ...operation.envelope, context: {} } } : operation, call),
    ),
  },
  {
    what: "loses without having said so",
    caught: "contract:loss:declared",
    protocol: withClient((handler) => (operation, call) => {
      call.reportLoss({ protocol: real.id, path: "message.parts[0].metadata", valueKind: "object", reason: "dropped" });
      return handler(operation, call);
    }),
  },
  {
    what: "takes anything for an answer",
    caught: "contract:hostile:client",
    protocol: withClient(
      (handler) => async (operation, call) =>
        (await Promise.resolve(handler(operation, call)).catch(() => ({ kind: "done" }))) as AgentEvent,
    ),
  }, // of the right type, which is the deceit
];

describe("broken protocols", () => {
  for (const { what, caught, protocol } of BROKEN)
    test(`one that ${what} is caught by ${caught}`, async () => {
      const requirement = contractRequirements.find(({ id }) => id === caught);
      await expect(requirement?.check(protocol)).rejects.toThrow(Error);
    });
});
