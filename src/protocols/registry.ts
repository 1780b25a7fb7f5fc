// One line per protocol, nothing else in this file.
export { a2a } from "./a2a/index.js";
export { acp } from "./acp/index.js";
export { agora } from "./agora/index.js";
export { anp } from "./anp/index.js";
