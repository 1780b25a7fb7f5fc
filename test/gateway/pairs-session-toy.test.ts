import { protocols } from "../../src/public/protocols.js";
import { sessionToy } from "../session-toy/index.js";
import { pairsWith } from "./pairs/interfaces.js";
import { describePairs } from "./pairs/suite.js";

/** A protocol over sessions that is only registered: as listener of all others, and as their upstream. */
const registry = [...protocols, sessionToy];
describePairs(await pairsWith(sessionToy, registry), registry);
