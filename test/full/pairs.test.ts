import { protocols } from "../../src/public/protocols.js";
import { allPairs, provenInterfacesOf } from "../gateway/pairs/interfaces.js";
import { describePairs } from "../gateway/pairs/suite.js";

/** Every interface as listener of every interface. */
describePairs(allPairs(await provenInterfacesOf(protocols)));
