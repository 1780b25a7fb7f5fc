import {
  AgentError,
  agent,
  type ConnectOptions,
  connect,
  DiscoveryCache,
  type RemoteAgent,
  type ServeOptions,
  serve,
} from "../../src/index.js";
import { anp } from "../../src/protocols/anp/index.js";
import { protocols } from "../../src/public/protocols.js";
import type { LocalIdentity } from "../../src/security/identity/index.js";
import { Directory } from "../secured-toy/directory.js";

/** Agents and callers with sealed sessions of ANP, and the documents of their DIDs. */

export const PIN = "anp@1.2/WS";
export const registry = [...protocols.filter(({ id }) => id !== "anp"), anp];
export const directory = new Directory();
export const host = directory.create("host");

const closing: (() => Promise<unknown>)[] = [];

/** Closes everything that was opened, the last first. */
export async function closeAll(): Promise<void> {
  for (const close of closing.splice(0).reverse()) await close();
}

export function closeLater(close: () => Promise<unknown>): void {
  closing.push(close);
}

export const worker = agent({
  name: "worker",
  description: "says who called",
  handle: (message, task) => (message.text === "who" ? task.owner : `you said: ${message.text}`),
});

export async function served(options: ServeOptions = {}, served = worker): Promise<string> {
  const server = await serve(served, { protocols: registry, identity: host, resolver: directory.resolver(), ...options });
  closing.push(() => server.close());
  // Where it listens: its public address may be that of a proxy.
  return `http://127.0.0.1:${server.port}`;
}

export async function called(url: string, identity: LocalIdentity, options: ConnectOptions = {}): Promise<RemoteAgent> {
  const peer = await connect(url, {
    protocols: registry,
    pin: PIN,
    discoveryCache: new DiscoveryCache(),
    resolver: directory.resolver(),
    identity,
    ...options,
  });
  closing.push(() => peer.close());
  return peer;
}

/** The reason of a failed handshake. */
export async function reasonOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
  } catch (thrown) {
    const { code, facts } = AgentError.from(thrown);
    return `${code} ${facts.detail?.["reason"]}`;
  }
  return "nothing failed";
}
