import { type DeploymentRow, deploymentRows } from "../../src/internal.js";
import type { DeploymentName, Protocol } from "../../src/public/protocols.js";

/** What a profile looks at before a server starts. */
export interface ProfileFacts {
  readonly protocols: readonly Pick<Protocol, "id" | "deployments">[];
  /** Callers are on this machine only: a loopback address, and no public one. */
  readonly isLocal: boolean;
  /** The connection of callers is encrypted, here or by a proxy on this machine. */
  readonly tls: boolean;
  readonly clientCertificates: boolean;
  readonly authentication: boolean;
  readonly openToEverybody: boolean;
  readonly audit: boolean;
  /** Page, messages or metrics are on the callers' port. */
  readonly operatorViewShared: boolean;
  readonly signedCards: boolean;
  readonly durable: boolean;
  /** Upstreams beyond this machine that are called in clear text. */
  readonly clearUpstreams: readonly string[];
}

interface NeedInfo {
  /** A server without a `must` does not start; a `should` is a warning. */
  readonly level: "must" | "should";
  readonly means: string;
  isMet(facts: ProfileFacts, rows: readonly DeploymentRow[]): boolean;
}

const hasRow = (rows: readonly DeploymentRow[], holds: (row: DeploymentRow) => boolean): boolean => rows.some(holds);

/** What the recommended profile asks for. The rows of the served protocols decide about transport and cards. */
export const NEEDS = {
  tls: {
    level: "must",
    means: "TLS for callers beyond this machine",
    isMet: ({ tls, isLocal }, rows) => tls || isLocal || !hasRow(rows, ({ transport }) => transport !== "clear"),
  },
  clientCertificates: {
    level: "must",
    means: "certificates of callers, where a protocol's row has mutual TLS",
    isMet: ({ clientCertificates }, rows) => clientCertificates || !hasRow(rows, ({ transport }) => transport === "mtls"),
  },
  authentication: {
    level: "must",
    means: "authentication of callers: none is anonymous, also on loopback",
    isMet: ({ authentication }, rows) => authentication || !hasRow(rows, ({ callers }) => callers !== "anonymous"),
  },
  closed: {
    level: "must",
    means: "no consent to anonymous callers",
    isMet: ({ openToEverybody }) => !openToEverybody,
  },
  upstreamTls: {
    level: "must",
    means: "TLS for upstreams beyond this machine",
    isMet: ({ clearUpstreams }) => clearUpstreams.length === 0,
  },
  operatorView: {
    level: "must",
    means: "a listener of its own for the operator's view",
    isMet: ({ operatorViewShared }) => !operatorViewShared,
  },
  audit: { level: "must", means: "an audit log of admitted and refused callers", isMet: ({ audit }) => audit },
  signedCards: {
    level: "should",
    means: "signed cards, where a protocol has them",
    isMet: ({ signedCards }, rows) => signedCards || !hasRow(rows, (row) => row.signedCards),
  },
  durable: { level: "should", means: "tasks that survive the process", isMet: ({ durable }) => durable },
} as const satisfies { readonly [need: string]: NeedInfo };
export type Need = keyof typeof NEEDS;

/** What a server lacks for its profile. */
export interface ProfileGap {
  readonly need: Need;
  readonly level: "must" | "should";
  readonly means: string;
}

/** The missing needs of a profile, musts first. The minimal profile needs nothing. */
export function profileGaps(profile: DeploymentName, facts: ProfileFacts): readonly ProfileGap[] {
  if (profile === "minimal") return [];
  const rows = deploymentRows(facts.protocols).filter(({ name }) => name === profile);
  return Object.entries(NEEDS)
    .filter(([, { isMet }]) => !isMet(facts, rows))
    .map(([need, { level, means }]) => ({ need: need as Need, level, means })); // the keys of NEEDS
}

const MIB = 1024 * 1024;

/** Limits that the recommended profile sets where the operator sets none: a server for agents, not for uploads. */
export const RECOMMENDED_LIMITS = {
  limits: {
    bodyBytes: 4 * MIB,
    jsonValues: 50_000,
    unprovenBytes: 16 * 1024,
    unadmittedBytes: 16 * MIB,
    bufferedBytes: 128 * MIB,
    bufferedBytesPerCaller: 16 * MIB,
    connections: 2_000,
    handshakes: 400,
    handshakesPerNetwork: 50,
    h2Streams: 64,
    openStreamsPerOwner: 200,
    firstByteMs: 3_000,
    headersMs: 5_000,
    requestMs: 30_000,
    sessionsPerCaller: 20,
    sessionsUnadmitted: 50,
  },
  taskLimits: {
    runningTasksPerOwner: 50,
    journalBytes: 8 * MIB,
  },
} as const;

/** The limits of a profile; empty for the minimal one. */
export function profileLimits(profile: DeploymentName | undefined): Partial<typeof RECOMMENDED_LIMITS> {
  return profile === "recommended" ? RECOMMENDED_LIMITS : {};
}

/** Whether text from a caller reaches this URL in clear, beyond this machine. */
export function isClearBeyondLoopback(url: string): boolean {
  if (!/^(http|ws):/i.test(url) || !URL.canParse(url)) return false;
  return !/^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(new URL(url).hostname);
}
