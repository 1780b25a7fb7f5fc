// One line per protocol with commands of its own, under the protocol's id. `koine --help` loads it: light modules only.
export { commands as agora } from "./agora/commands.js";
export { commands as anp } from "./anp/commands.js";
export { commands as sage } from "./sage/commands.js";
