import { protocols } from "../../src/public/protocols.js";
import { securedToy } from "../secured-toy/index.js";
import { pairsWith } from "./pairs/interfaces.js";
import { describePairs } from "./pairs/suite.js";

/** A protocol with signatures and seals that is only registered: as listener of all others, and as their upstream. */
const registry = [...protocols, securedToy];
describePairs(await pairsWith(securedToy, registry), registry);
