import type { OwnProcess } from "./start.js";

/** Memory of the process after a collection: the heap, and external memory. */
export async function heldBy(gateway: OwnProcess, name: string): Promise<number> {
  gateway.writeLine(`memory ${name}`);
  const line = await gateway.lineStarting(`memory ${name} `);
  const { heapUsed, external } = JSON.parse(line.slice(`memory ${name} `.length)) as { heapUsed: number; external: number };
  return heapUsed + external;
}
