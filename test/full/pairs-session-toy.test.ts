import { protocols } from "../../src/public/protocols.js";
import { pairsWith } from "../gateway/pairs/interfaces.js";
import { describePairs } from "../gateway/pairs/suite.js";
import { sessionToy } from "../session-toy/index.js";

/** A protocol over sessions that is only registered: as listener of every other interface, and as their upstream. */
const registry = [...protocols, sessionToy];
describePairs(await pairsWith(sessionToy, registry), registry);
