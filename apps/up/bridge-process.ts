import {
  AgentError,
  type Bridge,
  type BridgeOptions,
  bridge,
  type Credentials,
  type Layer,
  type PeerAddress,
  type Requirement,
  type Server,
} from "../../src/index.js";
import type { PlanSettings } from "./plan-schema.js";
import { serveInterface } from "./serve-one.js";

/** Options of one bridge process. */
export interface BridgeProcessOptions {
  /** The upstream module. */
  readonly name: string;
  readonly to: PeerAddress;
  readonly pin: string;
  readonly port: number;
  /** Credentials that callers must present. */
  readonly credentials: Credentials;
  /** What the links do not carry is refused. */
  readonly layers: readonly Layer[];
  /** The security that callers must bring. */
  readonly require: readonly Requirement[];
  /** Protocol settings, by protocol id. */
  readonly settings: PlanSettings;
}

/** Retry interval while the upstream is starting; the supervisor bounds the total time. */
const RETRY_MS = 100;
const RETRYABLE: ReadonlySet<string> = new Set(["unavailable", "interrupted", "deadline"]);

/** Serves a remote agent over another protocol, once it is reachable. */
export async function serveBridge({
  name,
  to,
  pin,
  port,
  credentials,
  layers,
  require,
  settings,
}: BridgeProcessOptions): Promise<Pick<Server, "close">> {
  const bridged = await bridgeWithRetry(to.url, {
    ...(to.protocol === undefined ? {} : { pin: to.protocol }),
    ...(to.credentials === undefined ? {} : { credentials: to.credentials }),
    ...(to.require === undefined ? {} : { require: to.require }),
    settings,
    bridge: { name },
  });
  const server = await serveInterface(bridged, pin, port, { credentials, layers, require, settings });
  return {
    async close() {
      await server.close();
      await bridged.close();
    },
  };
}

/** All modules start at once, so the upstream may still be starting. */
async function bridgeWithRetry(url: string, options: BridgeOptions): Promise<Bridge> {
  for (;;) {
    try {
      return await bridge(url, options);
    } catch (thrown) {
      if (!(thrown instanceof AgentError) || !RETRYABLE.has(thrown.code)) throw thrown;
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}
