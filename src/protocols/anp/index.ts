import type { Protocol } from "../protocol.js";
import type { BindingTraits } from "../traits.js";
import { connect } from "./client.js";
import { commands } from "./commands.js";
import { deployments } from "./deployments.js";
import { discover, probe } from "./discover.js";
import { features, traits } from "./features.js";
import { didWba } from "./identity/did-wba.js";
import { plainLosses, plainTraits } from "./plain/losses.js";
import { primitives } from "./primitives.js";
import { sendCodec } from "./send-codec.js";
import { routes, serve } from "./server.js";
import { readSettings, SETTINGS } from "./settings.js";
import { type Binding, LEGACY, PLAIN, PROTOCOL, VERSION } from "./wire.js";

const SIGNED_HTTP = { signed: "hop", sealed: "none" } as const;
const ONE_ANSWER = {
  streaming: false,
  tasks: false,
  resume: false,
  idempotentSend: false,
  inputTurns: false,
  binary: false,
  proofs: false,
} as const;

/** ANP 1.2: did:wba identities, signed requests, described interfaces, messaging and encrypted sessions; and the forms before it. */
export const anp: Protocol = {
  id: PROTOCOL,
  // The old session is not among them: it is off unless a setting names it.
  versions: [VERSION, PLAIN],
  traits,
  // A signature over an HTTP request reaches the server that is called and covers no answer; only sessions are sealed.
  bindingTraits: {
    JSONRPC: SIGNED_HTTP,
    // Methods of other peers and direct messages: one message, one answer.
    OPENRPC: { ...SIGNED_HTTP, ...ONE_ANSWER },
    // The origin proof of a message reaches its recipient.
    DIRECT: { ...SIGNED_HTTP, ...ONE_ANSWER, signed: "end-to-end" },
  } satisfies { readonly [binding in Exclude<Binding, "WS" | "PLAIN">]: BindingTraits[string] },
  // The old session seals each hop and signs no message.
  versionTraits: { [PLAIN]: plainTraits, [LEGACY]: { ...plainTraits, sealed: "hop" } },
  features,
  primitives,
  deployments,
  losses: [
    { version: VERSION, path: "operation.push", reason: "ANP has no push notifications" },
    { version: VERSION, path: "message.parts[]", reason: "methods of other peers and the plain form take text and data" },
    { version: VERSION, path: "message.metadata", reason: "methods of other peers have no metadata" },
    ...traits.carries.map((name) => ({
      version: VERSION,
      path: `context.${name}`,
      reason: "methods of other peers have no context",
    })),
    { version: VERSION, path: "operation.session.close", reason: "ANP cannot close a conversation" },
    ...plainLosses,
  ],
  routes,
  serve,
  connect,
  discover,
  probe,
  didMethods: (settings) => [didWba(readSettings(settings))],
  usesIdentity: true,
  // A server that has just started answers the first signature with a challenge.
  requestsPerCall: 2,
  codec: sendCodec,
  settings: SETTINGS,
  samples: async (text, agent) => (await import("./samples.js")).samples(text, agent),
  commands,
  requirements: async () => (await import("./requirements.js")).requirements,
};
