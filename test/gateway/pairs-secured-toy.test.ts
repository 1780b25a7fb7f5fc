import { protocols } from "../../src/public/protocols.js";
import { securedToy } from "../secured-toy/index.js";
import { coveringPairsWith } from "./pairs/interfaces.js";
import { describePairs } from "./pairs/suite.js";

/**
 * A protocol with signatures and seals that is only registered: as listener of every other protocol, and as their upstream.
 * Every interface: `test/full/pairs-secured-toy.test.ts`.
 */
const registry = [...protocols, securedToy];
describePairs(await coveringPairsWith(securedToy, registry), registry);
