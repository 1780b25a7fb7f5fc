import {
  AgentError,
  type Bridge,
  type BridgeOptions,
  bridge,
  type Credentials,
  type PeerAddress,
  type Server,
} from "../../src/index.js";
import { serveInterface } from "./serve-one.js";

/** One bridge: what it speaks in front, and whom it calls. */
export interface Bridging {
  /** The module behind it. */
  readonly name: string;
  readonly to: PeerAddress;
  readonly pin: string;
  readonly port: number;
  /** What callers have to show. */
  readonly credentials: Credentials;
}

/** Between two looks at an agent that is not there yet. Whoever started this process says how often it may look. */
const LOOK_MS = 100;
const NOT_YET: ReadonlySet<string> = new Set(["unavailable", "interrupted", "deadline"]);

/** Serves a remote agent on another protocol, as soon as it is there. */
export async function serveBridge({ name, to, pin, port, credentials }: Bridging): Promise<Pick<Server, "close">> {
  const bridged = await reached(to.url, {
    ...(to.protocol === undefined ? {} : { pin: to.protocol }),
    ...(to.credentials === undefined ? {} : { credentials: to.credentials }),
    bridge: { name },
  });
  const server = await serveInterface(bridged, pin, port, { credentials });
  return {
    async close() {
      await server.close();
      await bridged.close();
    },
  };
}

/** All modules of a network start at once, so that the one behind may still be starting. */
async function reached(url: string, options: BridgeOptions): Promise<Bridge> {
  for (;;) {
    try {
      return await bridge(url, options);
    } catch (thrown) {
      if (!(thrown instanceof AgentError) || !NOT_YET.has(thrown.code)) throw thrown;
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}
