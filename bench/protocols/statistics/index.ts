/** The statistics of the protocol benchmark. The run is the unit. */
export { bcaInterval } from "./bootstrap.js";
export { type ArmValues, type Conclusion, comparePairs, conclusionOf, type PairComparison } from "./compare.js";
export { deltaLabel } from "./ranks.js";
export { holm } from "./welch.js";
