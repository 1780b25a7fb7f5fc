import { type ConnectOptions, connect, DiscoveryCache, type Interface } from "../../../../src/index.js";
import { systemClock } from "../../../../src/public/policies.js";
import { type Link, protocols } from "../../../../src/public/protocols.js";
import { openOwnIdentity } from "../../processes/own-identity.js";
import type { CoordinatorTask, Credentials } from "./tasks.js";

/** A connection to one doctor. */
export interface Caller {
  send(text: string): Promise<string>;
  close(): Promise<void>;
}

export interface CallerParts {
  readonly task: CoordinatorTask;
  readonly address: string;
  readonly link: Link;
  readonly credentials: Credentials;
  /** Milliseconds since the epoch, shifted by a probe. */
  now(): number;
}

const TIMEOUT_MS = 10_000;

/** Connects by one interface of a registered protocol: no other is tried, so that a probe sees what became of its own message. */
export async function openKoineCaller(parts: CallerParts, pin: string): Promise<Caller> {
  const peer = await connect(parts.address, { ...(await optionsOf(parts)), pin });
  return { send: (text) => peer.ask(text), close: () => peer.close() };
}

/**
 * The interface that a client chooses by itself. The probes are about messages that are requests: if the peer prefers sessions, it is the
 * first interface without them.
 */
export async function chooseInterface(parts: CallerParts): Promise<string> {
  const peer = await connect(parts.address, await optionsOf(parts));
  try {
    const { interfaces, version, binding } = peer;
    const chosen = interfaces.find((each) => each.version === version && each.binding === binding);
    const found = chosen !== undefined && !isSession(chosen) ? chosen : interfaces.find((each) => !isSession(each));
    if (found === undefined) throw new Error(`${parts.address} has no interface for requests`);
    return `${found.protocol}@${found.version}/${found.binding}`;
  } finally {
    await peer.close();
  }
}

const isSession = ({ url }: Interface): boolean => /^wss?:/i.test(url);

async function optionsOf({ task: { target, records }, link, credentials, now }: CallerParts): Promise<ConnectOptions> {
  const protocol = target.kind === "protocol" ? protocols.find(({ id }) => id === target.protocol) : undefined;
  if (protocol === undefined) throw new Error("the target names no registered protocol");
  const { identity, token } = credentials;
  return {
    protocols: [protocol],
    link,
    discoveryCache: new DiscoveryCache(),
    clock: { ...systemClock, now },
    ids: { now, newId: () => crypto.randomUUID() },
    timeoutMs: TIMEOUT_MS,
    discoverMs: TIMEOUT_MS,
    resume: false,
    as: "coordinator",
    ...(identity !== undefined && (await openOwnIdentity(identity, { records }, protocol))),
    ...(token !== undefined && { credentials: { bearer: token } }),
  };
}
