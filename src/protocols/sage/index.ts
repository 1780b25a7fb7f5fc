import type { Protocol } from "../protocol.js";
import { connectOver } from "./client.js";
import { commands } from "./commands.js";
import { deployments } from "./deployments.js";
import { discoverOver } from "./discover.js";
import { features, traits } from "./features.js";
import { didMethods } from "./identity/did-methods.js";
import { sageIdentity } from "./identity/signing-key.js";
import { bindingTraitsOver, innerBelow, innersOf, lossesOver } from "./inner.js";
import { guardMessages } from "./message/guard-messages.js";
import { primitives } from "./primitives.js";
import { sendCodecOver } from "./send-codec.js";
import { serveInners } from "./serve-inners.js";
import { routesOver } from "./server.js";
import { readSettings, settingsOver } from "./settings.js";
import { EXTENSION_URI, PROTOCOL, VERSION } from "./wire.js";

/**
 * SAGE over a protocol: its operations, with every request, answer and message signed by a DID in a registry. The setting `over` chooses
 * others to be over.
 */
export function sageOver(inner: Protocol, ...others: readonly Protocol[]): Protocol {
  const inners = innersOf(inner, others);
  return {
    id: PROTOCOL,
    versions: [VERSION],
    traits,
    bindingTraits: bindingTraitsOver(inners),
    features,
    primitives,
    deployments,
    losses: inners.flatMap(lossesOver),
    routes: inners.flatMap(routesOver),
    serve: (host) => serveInners(inners, host),
    connect: (context) => connectOver(innerBelow(inners, context.peer.binding), context),
    discover: discoverOver(inners),
    didMethods,
    cardExtensions(identity, { tasks, largeParts }, settings) {
      const own = sageIdentity({ identity });
      if (own === undefined) return [];
      const description = "signed requests and answers, and messages sealed in sessions";
      const { over: names } = readSettings(settings);
      const over = names && { over: names };
      const atRest = { ...(tasks && { tasks }), ...(largeParts && { largeParts }) };
      return [{ uri: EXTENSION_URI, description, required: false, params: { did: own.did, sessions: true, ...over, atRest } }];
    },
    sealsStore: (identity) => sageIdentity({ identity }) !== undefined,
    guardMessages,
    usesIdentity: true,
    needsIdentity: true,
    createIdentity: async (file, registration) => (await import("./node/create-identity.js")).createIdentity(file, registration),
    localSettings: async () => (await import("./node/dev-chain.js")).findDevChain(),
    // A server that has just started answers the first signature with a challenge.
    requestsPerCall: 2,
    codec: inner.codec && sendCodecOver(inner.codec),
    settings: settingsOver(inners.map(({ id }) => id)),
    commands,
    requirements: async () => (await import("./requirements.js")).requirements,
  };
}
