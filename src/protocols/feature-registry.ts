// One line per protocol: its row of the feature model, under the protocol's id. `koine/router` loads it: data only.
export { row as a2a } from "./a2a/features.js";
export { row as acp } from "./acp/features.js";
export { row as agora } from "./agora/features.js";
export { row as anp } from "./anp/features.js";
export { row as sage } from "./sage/features.js";
