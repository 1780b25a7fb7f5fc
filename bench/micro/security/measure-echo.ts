import type { Worker } from "../../harness/processes.js";
import type { Measurement } from "../../harness/result.js";
import type { Slice } from "../../harness/tally.js";
import type { EchoOrder } from "./workload.js";

/** One slice of echoes over a connection that is open: the CPU time of the server for each. Closes the connection. */
export async function measureEcho(server: Worker, load: Worker, order: EchoOrder): Promise<Measurement> {
  const before = await server.usage();
  const { counted, completed, windowMs, p50Us, p99Us } = await load.ask<Slice>("run", order);
  const after = await server.usage();
  await load.ask("close");
  const perSecond = (counted / windowMs) * 1000;
  return { perSecond, p50Us, p99Us, cpuUs: (after.cpuUs - before.cpuUs) / completed, requests: counted };
}
