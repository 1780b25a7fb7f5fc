import { protocols } from "../../src/public/protocols.js";

/** The protocols that anybody may call. Those between identities have tests of their own. */
export const openProtocols = protocols.filter(({ needsIdentity }) => needsIdentity !== true);
