import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { resolverFor } from "../../../src/client/did-resolvers.js";
import { type AgentError, connect } from "../../../src/index.js";
import {
  A2AProtocol,
  koineOptions,
  MockProtocol,
  newAgent,
  newMessage,
  optional,
  ProtocolA2A,
  ProtocolAuto,
  ProtocolSAGE,
  SAGEProtocol,
  type SageOptions,
  withSession,
} from "../../../src/protocols/sage/api/index.js";
import type { HttpRequest, HttpResponse } from "../../../src/transport/exchange.js";
import { freePort } from "../../anp/directory.js";
import { alteringLink } from "../captured.js";
import { PROTOCOLS } from "../world.js";
import { DoorWorld } from "./world.js";

/** Every way to send a message by SAGE, each under every attack on its way or on its recipient: nothing is answered. */

const world = new DoorWorld();
let desk: { readonly url: string; readonly did: string };
let plainUrl: string;
beforeAll(async () => {
  desk = await world.desk();
  const plain = newAgent("plain")
    .withProtocol(ProtocolA2A)
    .onMessage(({ text }) => text)
    .build();
  const server = await plain.serve();
  world.closing(() => server.close());
  plainUrl = server.url;
});
afterAll(() => world.close());

/** The agent that is called: by its DID, wherever that is, or at an address. */
interface Called {
  readonly recipientDid: string;
  readonly recipientUrl?: string;
}

/** Sends a message. `attack` is called once everything is set up that an attacker is too late for. */
type Entry = (sage: SageOptions, to: Called, attack: () => void | Promise<void>) => Promise<unknown>;

const secured = (sage: SageOptions, mode: typeof ProtocolSAGE | typeof ProtocolAuto = ProtocolSAGE) => {
  const built = newAgent("ann")
    .withProtocol(mode)
    .withSAGE(mode === ProtocolAuto ? optional(sage) : sage)
    .build();
  world.closing(() => built.close());
  return built;
};

const ENTRIES: { readonly [name: string]: Entry } = {
  sendMessage: async (sage, to, attack) => {
    await attack();
    return secured(sage).sendMessage(newMessage("hello", to));
  },
  "sendMessage of a marked message in auto": async (sage, to, attack) => {
    await attack();
    return secured(sage, ProtocolAuto).sendMessage(newMessage("hello", { ...to, security: { mode: "sage" } }));
  },
  streamMessage: async (sage, to, attack) => {
    await attack();
    const events = [];
    for await (const event of secured(sage).streamMessage(newMessage("hello", to))) events.push(event);
    return events;
  },
  establishSession: async (sage, { recipientDid, ...where }, attack) => {
    await attack();
    return secured(sage).establishSession(recipientDid, where);
  },
  withSession: async (sage, to, attack) => {
    const sender = secured(sage);
    // Before the attack: the agent is who it should be.
    const session = await sender.establishSession(desk.did);
    await attack();
    return sender.sendMessage(newMessage("hello", to), withSession(session));
  },
  SAGEProtocol: async ({ identity, settings, connect: options }, to, attack) => {
    const { records } = world.store;
    const resolver = resolverFor("loopback", { protocols: PROTOCOLS, settings: { sage: settings ?? {} }, records });
    if (identity === undefined || typeof identity === "string") throw new Error("the test has identities");
    const protocol = new SAGEProtocol({ identity, resolver, records, settings, connect: options });
    world.closing(() => protocol.close());
    await attack();
    return protocol.sendMessage(newMessage("hello", to));
  },
  "the options of connect": async (sage, { recipientDid, recipientUrl }, attack) => {
    await attack();
    const options = await koineOptions(ProtocolSAGE, sage);
    const own = await options.connect(recipientUrl ?? recipientDid);
    const settings = { ...own.settings, sage: { ...own.settings?.["sage"], peer: recipientDid } };
    const peer = await connect(recipientUrl ?? recipientDid, { ...own, ...sage.connect, settings });
    world.closing(() => peer.close());
    return peer.ask("hello");
  },
};
const names = Object.keys(ENTRIES);

const errorOf = async (sent: Promise<unknown>): Promise<string> =>
  sent.then(
    (answer) => `answered: ${JSON.stringify(answer)}`,
    // `connect` has no names of SAGE, but its reasons.
    ({ name, code, facts: { detail } }: AgentError) =>
      code === "identity_unresolved" || detail?.["reason"] === "record.unreachable" ? "ErrDIDNotResolved" : name,
  );

test.each(names)("%s is answered without an attack", async (name) => {
  const sent = ENTRIES[name]?.(await world.sageOf(), { recipientDid: desk.did }, () => undefined);
  await expect(sent).resolves.toBeDefined();
});

type Change = (response: HttpResponse, request: HttpRequest) => HttpResponse;
const SIGNED = ["signature", "signature-input", "content-digest", "x-agent-did", "x-sage-stream"];

/** What somebody on the way does to the answers. */
const ON_THE_WAY: { readonly [attack: string]: () => Change } = {
  "strips the signature": () => (response) => ({
    ...response,
    headers: Object.fromEntries(Object.entries(response.headers).filter(([name]) => !SIGNED.includes(name))),
  }),
  "changes a byte of the body": () => (response) => ({ ...response, body: tampered(response.body) }),
  "gives the answer to an earlier request": () => {
    let first: HttpResponse | undefined;
    return (response) => {
      const earlier = first;
      first ??= response;
      return earlier ?? { ...response, headers: { ...response.headers, date: new Date(0).toUTCString() } };
    };
  },
};

function tampered(body: HttpResponse["body"]): HttpResponse["body"] {
  const changed = (chunk: Uint8Array | string): string =>
    Buffer.from(chunk)
      .toString()
      .replace(/"role"|"task"|"id"/, '"eole"');
  if (body === undefined || typeof body === "string" || body instanceof Uint8Array) return body && changed(body);
  return (async function* () {
    for await (const chunk of body) yield changed(chunk);
  })();
}

describe.each(Object.keys(ON_THE_WAY))("somebody on the way %s", (attack) => {
  test.each(names)("%s", async (name) => {
    let isArmed = false;
    const change = ON_THE_WAY[attack]?.() ?? ((response) => response);
    const link = alteringLink((response, request) => (isArmed ? change(response, request) : response));
    const sage = { ...(await world.sageOf()), connect: { link } };
    const sent = ENTRIES[name]?.(sage, { recipientDid: desk.did }, () => {
      isArmed = true;
    });
    expect(await errorOf(sent ?? Promise.resolve())).toBe("ErrInvalidSignature");
  });
});

/** Recipients that are not who they should be. */
const RECIPIENTS: { readonly [attack: string]: () => Promise<{ readonly to: Called; readonly attack?: () => Promise<void> }> } = {
  "another agent answers at the address": async () => ({
    to: { recipientDid: (await world.register()).did, recipientUrl: desk.url },
  }),
  "the card at the address has no SAGE": async () => ({ to: { recipientDid: desk.did, recipientUrl: plainUrl } }),
  "the DID is in no registry": async () => ({ to: { recipientDid: `did:sage:local:0x${"0".repeat(40)}` } }),
  "the agent is deactivated": async () => {
    const identity = await world.register(`http://127.0.0.1:${await freePort()}`);
    return { to: { recipientDid: identity.did }, attack: () => world.submit(identity, { kind: "deactivate" }) };
  },
};

describe.each(Object.keys(RECIPIENTS))("%s", (attack) => {
  test.each(names)("%s", async (name) => {
    const made = await RECIPIENTS[attack]?.();
    if (made === undefined) throw new Error("there is such an attack");
    const sent = ENTRIES[name]?.(await world.sageOf(), made.to, made.attack ?? (() => undefined));
    expect(await errorOf(sent ?? Promise.resolve())).toMatch(
      /^Err(InvalidSignature|DIDNotResolved|DowngradeRefused|SessionExpired)$/,
    );
  });
});

test("A2AProtocol sends nothing that asks for SAGE, and nobody on the way can take that off before", async () => {
  const protocol = new A2AProtocol();
  world.closing(() => protocol.close());
  for (const asking of [{ security: { mode: "sage" } }, { recipientDid: desk.did }] as const) {
    const message = newMessage("hello", { recipientUrl: plainUrl, ...asking });
    expect(await errorOf(protocol.sendMessage(message))).toBe("ErrDowngradeRefused");
    expect(await errorOf(protocol.streamMessage(message)[Symbol.asyncIterator]().next())).toBe("ErrDowngradeRefused");
  }
  // A protocol of the user's own gets the message as it was made.
  const mock = new MockProtocol({ sendMessage: ({ security }) => ({ text: security?.mode ?? "plain" }) });
  const asked = newMessage("hello", { security: { mode: "sage" } });
  expect((await newAgent("ann").withProtocol(mock).build().sendMessage(asked)).text).toBe("sage");
});

// Attack 2.
test.each(names.filter((name) => name !== "withSession"))("%s fails while the registry does not answer", async (name) => {
  const registry = { rpc: `http://127.0.0.1:${await freePort()}`, address: `0x${"1".repeat(40)}` };
  const sage = { ...(await world.sageOf()), registry, settings: { recordMs: 0, rpc: registry.rpc, registry: registry.address } };
  const sent = ENTRIES[name]?.(sage, { recipientDid: desk.did }, () => undefined);
  expect(await errorOf(sent ?? Promise.resolve())).toBe("ErrDIDNotResolved");
});
