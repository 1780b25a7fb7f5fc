import { protocols } from "../../src/public/protocols.js";
import { pairsWith } from "../gateway/pairs/interfaces.js";
import { describePairs } from "../gateway/pairs/suite.js";
import { securedToy } from "../secured-toy/index.js";

/** A protocol with signatures and seals that is only registered: as listener of every other interface, and as their upstream. */
const registry = [...protocols, securedToy];
describePairs(await pairsWith(securedToy, registry), registry);
