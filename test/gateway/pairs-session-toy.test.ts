import { protocols } from "../../src/public/protocols.js";
import { sessionToy } from "../session-toy/index.js";
import { coveringPairsWith } from "./pairs/interfaces.js";
import { describePairs } from "./pairs/suite.js";

/**
 * A protocol over sessions that is only registered: as listener of every other protocol, and as their upstream.
 * Every interface: `test/full/pairs-session-toy.test.ts`.
 */
const registry = [...protocols, sessionToy];
describePairs(await coveringPairsWith(sessionToy, registry), registry);
