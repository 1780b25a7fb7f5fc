import { protocols } from "../../src/public/protocols.js";

/** The protocols that anybody may call. SAGE is only between identities in a registry: `test/sage` has its tests. */
export const openProtocols = protocols.filter(({ id }) => id !== "sage");
