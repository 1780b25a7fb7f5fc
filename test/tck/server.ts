/** Serves the agent of the compatibility kit and prints its address. */
import { parseArgs } from "node:util";
import { ownerOf, type Principal } from "../../src/envelope/index.js";
import { serve } from "../../src/index.js";
import { type Admission, openAdmission } from "../../src/public/auth.js";
import { tckAgent } from "./agent.js";

const { values } = parseArgs({
  options: {
    port: { type: "string", default: "0" },
    /** Requests for the card name no version, and the schemas of the kit allow the members of one version only. */
    card: { type: "string", default: "1.0" },
    push: { type: "boolean", default: false },
    "extended-card": { type: "boolean", default: false },
    "required-extension": { type: "boolean", default: false },
  },
});

/** The kit sends no credentials but requests what requires authentication, so every caller on loopback is authenticated. */
const neighbour: Principal = { id: "kit", scheme: "key", scopes: [], owner: ownerOf("key", "kit") };
const everybodyIsKnown: Admission = () => neighbour;

const server = await serve(tckAgent({ extendedCard: values["extended-card"], extension: values["required-extension"] }), {
  port: Number(values.port),
  admission: values["extended-card"] ? everybodyIsKnown : openAdmission(),
  // The kit's webhook listens on this machine, which is not allowed by default.
  push: values.push && { allow: ["localhost"] },
  settings: { a2a: { errorProfile: "1.0.0", cardForm: values.card, legacyGrpcAddress: "url" } },
});
console.log(server.url);
process.once("SIGTERM", () => void server.close());
