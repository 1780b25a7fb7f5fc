import type { OwnProcess } from "./start.js";

/** What the process holds after a collection: the heap, and what lies outside it. */
export async function heldBy(gateway: OwnProcess, name: string): Promise<number> {
  gateway.tell(`memory ${name}`);
  const line = await gateway.saying(`memory ${name} `);
  const { heapUsed, external } = JSON.parse(line.slice(`memory ${name} `.length)) as { heapUsed: number; external: number };
  return heapUsed + external;
}
