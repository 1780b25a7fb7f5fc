import type { Column } from "../result/result.js";

/** The columns of the paper's Table 3d, by protocol, as published. It says nothing about protocols that it does not name. */
const TABLE_3D: Readonly<Record<string, Partial<Record<Column, boolean>>>> = {
  acp: { tls: false, hijack: true, e2e: true, sniffing: false, metadata: true },
  a2a: { tls: false, hijack: true, e2e: true, sniffing: false, metadata: true },
  anp: { tls: true, hijack: true, e2e: true, sniffing: true, metadata: true },
  agora: { tls: true, hijack: true, e2e: true, sniffing: true, metadata: true },
};

/** Whether the paper says that a protocol has it. Undefined: it says nothing. */
export function paperSays(protocol: string | null, column: Column): boolean | undefined {
  return protocol === null ? undefined : TABLE_3D[protocol]?.[column];
}
