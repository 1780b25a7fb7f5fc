import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { contractRequirements } from "../../conformance/index.js";
import type { Card } from "../../src/envelope/index.js";
import { a2a } from "../../src/protocols/a2a/index.js";
import type { DiscoveryContext, Host, Protocol } from "../../src/protocols/protocol.js";
import { DID_HEADER } from "../../src/protocols/sage/wire.js";
import { createReplayGuard } from "../../src/security/replay/index.js";
import type { HttpRequest } from "../../src/transport/exchange.js";
import { DEFAULT_LIMITS } from "../../src/transport/limits.js";
import { identitiesFor } from "../helpers/test-identities.js";
import { PROTOCOLS, sage } from "./world.js";

/** The contract of every protocol. Its hosts and callers have no DID of SAGE, so that they get one here, beside the card of A2A. */

const CARD_PATH = "/.well-known/agent-card.json";
const parties = identitiesFor(PROTOCOLS);
const [server, caller] = [await parties.server(), await parties.caller(sage)];

const declared = (card: Card): Card => ({
  ...card,
  capabilities: {
    ...card.capabilities,
    extensions: sage.cardExtensions?.(server.identity, { tasks: undefined, largeParts: undefined }, undefined) ?? [],
  },
});
const hostOf = (host: Host): Host => ({
  ...host,
  ...server,
  // One identity has the sessions of all hosts here, and the contract gives each host the same ids.
  newId: () => randomUUID(),
  replay: createReplayGuard({ limits: DEFAULT_LIMITS, now: () => host.now(), knownSinceMs: 0 }),
  cards: () => host.cards().map(declared),
});
const ownContext = <Context extends DiscoveryContext>(context: Context): Context => ({ ...context, ...caller });

const isCard = ({ path, headers }: HttpRequest): boolean => path === CARD_PATH && headers[DID_HEADER] === undefined;

const signing: Protocol = {
  ...sage,
  routes: [...sage.routes, ...a2a.routes.filter(({ method, path }) => method === "GET" && path === CARD_PATH)],
  serve(host) {
    const [own, plain] = [sage.serve(hostOf(host)), a2a.serve(hostOf(host))];
    return { ...own, exchange: (request) => (isCard(request) ? plain : own).exchange(request) };
  },
  guardMessages: (host) => sage.guardMessages?.(hostOf(host)) ?? host.handler,
  connect: (context) => sage.connect(ownContext({ ...context, peer: { ...context.peer, card: declared(context.peer.card) } })),
  discover: (context, ...rest) => sage.discover(ownContext(context), ...rest),
};

describe("the contract, kept by SAGE", () => {
  for (const { id, behaviour, check } of contractRequirements)
    test(`${id}: ${behaviour}`, async () => {
      await expect(check(signing)).resolves.toBeUndefined();
    });
});
