import type { Protocol } from "../../src/protocols/index.js";
import { sessionToy } from "../session-toy/index.js";
import { connect } from "./client.js";
import { discover } from "./discover.js";
import { routes, serve } from "./server.js";

/** The session toy, signed, sealed and with identities: one folder and one line, built from the contract and `src/security`. */
export const securedToy: Protocol = {
  id: "secured-toy",
  versions: ["1"],
  traits: { ...sessionToy.traits, signed: "hop", sealed: "hop", binary: true, proofs: true },
  losses: sessionToy.losses.filter(({ path }) => !path.endsWith(".proofs")),
  routes,
  serve,
  connect,
  discover,
  usesIdentity: true,
  // The first request of a client gets a challenge.
  requestsPerCall: 2,
};
