import { once } from "node:events";
import { createServer } from "node:net";

/** Number of ports to try before the system selects one. */
const TRIES = 100;
const LOOPBACK = "127.0.0.1";

/** The first free port from the wanted one that was not given out before. 0: any. */
export async function freePort(wanted: number, given: Set<number>): Promise<number> {
  for (let port = wanted; wanted !== 0 && port < Math.min(wanted + TRIES, 65_536); port++)
    if (!given.has(port) && (await listened(port)) !== undefined) {
      given.add(port);
      return port;
    }
  for (;;) {
    const port = await listened(0);
    if (port === undefined || given.has(port)) continue;
    given.add(port);
    return port;
  }
}

/** Listens on a port for a moment; undefined if it is not available. */
async function listened(wanted: number): Promise<number | undefined> {
  const server = createServer();
  try {
    server.listen(wanted, LOOPBACK);
    await once(server, "listening");
  } catch {
    return undefined;
  }
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" && address !== null ? address.port : undefined;
}
