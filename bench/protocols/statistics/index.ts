/** The statistics of the protocol benchmark. The run is the unit. */
export { bcaInterval } from "./bootstrap.js";
export { type ArmValues, type Conclusion, comparePairs, conclusionOf, type PairComparison } from "./compare.js";
export { coefficientOfVariation, momentsOf, type Variation, variationOf } from "./moments.js";
export { clopperPearson } from "./proportions.js";
export { deltaLabel } from "./ranks.js";
