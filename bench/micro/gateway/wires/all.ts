import { JSONRPC_0_3, JSONRPC_1_0, REST_1_0 } from "./a2a.js";
import { ACP } from "./acp.js";
import { AGORA } from "./agora.js";
import { ANP } from "./anp.js";
import { GRPC_1_0 } from "./grpc.js";
import type { Wire } from "./wire.js";

export const WIRES: readonly Wire[] = [JSONRPC_1_0, REST_1_0, GRPC_1_0, JSONRPC_0_3, ACP, AGORA, ANP];

export function wireOf(id: string): Wire {
  const wire = WIRES.find((each) => each.id === id);
  if (wire === undefined) throw new Error(`there is no wire ${id}: take one of ${WIRES.map((each) => each.id).join(", ")}`);
  return wire;
}
