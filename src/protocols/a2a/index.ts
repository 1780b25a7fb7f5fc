import type { Protocol } from "../protocol.js";
import { connect } from "./client.js";
import { deployments } from "./deployments.js";
import { discover } from "./discover.js";
import { features, traits } from "./features.js";
import { readNotice } from "./notify.js";
import { probe } from "./plain/discover.js";
import { plainLosses, plainTraits } from "./plain/losses.js";
import { primitives } from "./primitives.js";
import { sendCodec } from "./send-codec.js";
import { routes, serve } from "./server.js";
import { SETTINGS } from "./settings.js";

/** A2A 1.0 and 0.3, over JSON-RPC, HTTP+JSON and gRPC, and the seed's plain endpoint. */
export const a2a: Protocol = {
  id: "a2a",
  versions: ["1.0", "0.3", "plain"],
  traits,
  versionTraits: { plain: plainTraits },
  features,
  primitives,
  losses: [
    { version: "1.0", path: "task.status.state=canceling", reason: "A2A has no such state; sent as working" },
    { version: "1.0", path: "push.delivery", reason: "the gRPC messages have no field for it; the JSON forms do" },
    { version: "0.3", path: "operation.task.list", reason: "0.3 defines no interoperable task list" },
    { version: "0.3", path: "peer.tenant", reason: "0.3 has no tenants" },
    { version: "0.3", path: "message.parts[].name", reason: "0.3 has no file name on text and data parts" },
    { version: "0.3", path: "message.parts[].metadata", reason: "0.3 on REST and gRPC has no metadata on parts" },
    { version: "0.3", path: "operation.historyLength=0", reason: "0.3 on gRPC does not distinguish zero from absent" },
    { version: "0.3", path: "message.parts[].mediaType", reason: "0.3 has no media type on text and data parts" },
    ...plainLosses,
  ],
  deployments,
  routes,
  serve,
  connect,
  discover,
  probe,
  readNotice,
  codec: sendCodec,
  settings: SETTINGS,
  samples: async (text) => (await import("./samples.js")).samples(text),
  requirements: async () => (await import("./requirements.js")).requirements,
};
