import { protocols } from "../../src/public/protocols.js";
import { coveringPairs, provenInterfacesOf } from "./pairs/interfaces.js";
import { describePairs } from "./pairs/suite.js";

/** Every ordered pair of protocols and every interface on either side; the full square is `test/full/pairs.test.ts`. */
describePairs(coveringPairs(await provenInterfacesOf(protocols)));
