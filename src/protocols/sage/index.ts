import type { Protocol } from "../protocol.js";
import { connectOver } from "./client.js";
import { commands } from "./commands.js";
import { deployments } from "./deployments.js";
import { discoverOver } from "./discover.js";
import { features, traits } from "./features.js";
import { didMethods } from "./identity/did-methods.js";
import { sageIdentity } from "./identity/signing-key.js";
import { guardMessages } from "./message/guard-messages.js";
import { primitives } from "./primitives.js";
import { sendCodecOver } from "./send-codec.js";
import { routesOver, serveOver } from "./server.js";
import { SETTINGS } from "./settings.js";
import { EXTENSION_URI, PROTOCOL, VERSION } from "./wire.js";

/** SAGE over a protocol: its operations, with every request, answer and message signed by a DID in a registry. */
export function sageOver(inner: Protocol): Protocol {
  return {
    id: PROTOCOL,
    versions: [VERSION],
    traits,
    features,
    primitives,
    deployments,
    losses: inner.losses
      .filter(({ version }) => version === inner.versions[0])
      .map(({ path, reason }) => ({ version: VERSION, path, reason })),
    routes: routesOver(inner),
    serve: (host) => serveOver(inner, host),
    connect: (context) => connectOver(inner, context),
    discover: discoverOver(inner),
    didMethods,
    cardExtensions(identity, { tasks, largeParts }) {
      const own = sageIdentity({ identity });
      if (own === undefined) return [];
      const description = "signed requests and answers, and messages sealed in sessions";
      const atRest = { ...(tasks && { tasks }), ...(largeParts && { largeParts }) };
      return [{ uri: EXTENSION_URI, description, required: false, params: { did: own.did, sessions: true, atRest } }];
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
    settings: SETTINGS,
    commands,
    requirements: async () => (await import("./requirements.js")).requirements,
  };
}
