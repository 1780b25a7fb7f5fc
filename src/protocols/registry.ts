// One line per protocol, nothing else in this file. One may be made of another.
import { a2a } from "./a2a/index.js";
import { acp } from "./acp/index.js";
import { agora } from "./agora/index.js";
import { sageOver } from "./sage/index.js";

export { anp } from "./anp/index.js";
export { a2a, acp, agora };
export const sage = sageOver(a2a, acp, agora);
