import type { FloorOptions, JsonObject, Maybe, Requirement } from "../../src/index.js";
import type { MemberPath } from "../config/index.js";
import type { CallersDocument } from "./callers-schema.js";
import type { ConfigProblems } from "./config-problem.js";
import type { AgentDocument, ConfigDocument, CredentialReferences, TrustReferences } from "./config-schema.js";
import type { LearnDocument } from "./learn-schema.js";
import type { PolicyDocument } from "./policy-schema.js";

/** One upstream address of an agent. */
export interface UpstreamConfig {
  readonly id: string;
  /** A URL, or a DID. */
  readonly url: string;
  readonly weight: Maybe<number>;
  readonly tags: Maybe<readonly string[]>;
  readonly pin: Maybe<string>;
  readonly credentials: CredentialReferences;
  /** The identity file that signs requests to it. */
  readonly identity: Maybe<string>;
  /** Protocol settings, by protocol id. */
  readonly settings: { readonly [protocol: string]: JsonObject };
  /** The security of calls to it, with the requirements of its agent. */
  readonly floor: Required<Pick<FloorOptions, "require" | "clearText" | "openings">>;
  /** Paths of its URL, its credentials and its identity in the document. */
  readonly path: MemberPath;
  readonly credentialPath: MemberPath;
  readonly identityPath: MemberPath;
}

/** An agent with the defaults applied. */
export interface AgentConfig {
  /** The name in addresses and metric labels. */
  readonly name: string;
  /** The upstreams that calls are balanced over. */
  readonly upstreams: readonly [UpstreamConfig, ...UpstreamConfig[]];
  /** Whether the upstreams share idempotency keys, so a retry may go to another one. Default: false. */
  readonly sharedKeys: boolean;
  /** `adopt` stores tasks at the gateway; `relay` stores nothing. Default: adopt. */
  readonly mode: "adopt" | "relay";
  /** Rejects what the upstream does not support instead of emulating it. Default: false. */
  readonly strict: boolean;
  readonly callsPerCaller: Maybe<number>;
  /** How the upstream's card is published. Default: that of `bridge`. */
  readonly card: AgentDocument["card"];
  /** Time limit of one call. Default: none. */
  readonly timeoutMs: Maybe<number>;
  /** Concurrent calls to each upstream, and calls that may wait. Default: those of `connect`. */
  readonly connections: Maybe<number>;
  readonly connectionQueue: Maybe<number>;
  /** Trusted card signatures. Default: none. */
  readonly trust: Maybe<TrustReferences>;
  /** Where `trust` stands in the document, for problem reports. */
  readonly trustPath: MemberPath;
  /** How protocols are chosen by the outcomes of earlier calls. Default: they are not. */
  readonly learn: Maybe<LearnDocument>;
  /** Which credentials upstream calls carry. Default: the gateway's own. */
  readonly callers: CallersDocument;
  /** Where `callers` stands in the document, for problem reports. */
  readonly callersPath: MemberPath;
  /** Security that callers must bring. Default: none. */
  readonly require: readonly Requirement[];
  /** Policies of upstream calls, the defaults included. */
  readonly policies: PolicyDocument;
  /** Where the agent stands in the document, for problem reports. */
  readonly path: MemberPath;
}

/** A validated configuration. The files it references have not been read yet. */
export interface GatewayConfig {
  /** The document with environment variables substituted. May hold secrets: never display it. */
  readonly document: ConfigDocument;
  /** The agents, defaults applied. */
  readonly agents: readonly AgentConfig[];
  /** Base directory of relative file names. */
  readonly folder: string;
  /** The environment that references are read from. */
  readonly env: NodeJS.ProcessEnv;
  /** Collects problems found after parsing, with positions in the same file. */
  newProblems(): ConfigProblems;
}

/** Applies the defaults to every agent. */
export function agentsOf(document: ConfigDocument): readonly AgentConfig[] {
  const { agents, defaults = {} } = document;
  return agents.map((agent, index) => {
    const path = ["agents", index];
    const { mode = "adopt", strict = false, card, timeoutMs, trust, callers = "own", require = [] } = { ...defaults, ...agent };
    const { connections, connectionQueue, callsPerCaller, learn = false } = { ...defaults, ...agent };
    return {
      name: agent.name,
      upstreams: upstreamsOf(agent, document, path),
      require,
      sharedKeys: agent.sharedKeys ?? false,
      mode,
      strict,
      callsPerCaller,
      card,
      timeoutMs,
      connections,
      connectionQueue,
      trust,
      trustPath: agent.trust === undefined ? ["defaults", "trust"] : [...path, "trust"],
      learn: learn === true ? {} : learn === false ? undefined : learn,
      callers,
      callersPath: agent.callers === undefined ? ["defaults", "callers"] : [...path, "callers"],
      policies: { ...defaults.policies, ...agent.policies },
      path,
    };
  });
}

function upstreamsOf(
  agent: AgentDocument,
  document: ConfigDocument,
  path: MemberPath,
): readonly [UpstreamConfig, ...UpstreamConfig[]] {
  const { defaults = {}, settings = {} } = document;
  const common = agent.credentials ?? defaults.credentials ?? {};
  const commonIdentity = agent.identity ?? defaults.identity;
  const required = agent.require ?? defaults.require ?? [];
  const commonPath = agent.credentials === undefined ? ["defaults", "credentials"] : [...path, "credentials"];
  const commonIdentityPath = agent.identity === undefined ? ["defaults", "identity"] : [...path, "identity"];
  const [first, ...rest] = (agent.upstreams ?? []).map(
    (each, index): UpstreamConfig => ({
      id: each.id,
      url: each.url,
      weight: each.weight,
      tags: each.tags,
      pin: each.pin ?? agent.pin,
      credentials: each.credentials ?? common,
      identity: each.identity ?? commonIdentity,
      settings,
      floor: floorFor(document, `${agent.name}/${each.id}`, [...required, ...(each.require ?? [])]),
      path: [...path, "upstreams", index, "url"],
      credentialPath: each.credentials === undefined ? commonPath : [...path, "upstreams", index, "credentials"],
      identityPath: each.identity === undefined ? commonIdentityPath : [...path, "upstreams", index, "identity"],
    }),
  );
  if (first !== undefined) return [first, ...rest];
  const { name: id, upstream: url = "", pin } = agent; // the schema guarantees one of upstream and upstreams
  const paths = { path: [...path, "upstream"], credentialPath: commonPath, identityPath: commonIdentityPath };
  const floor = floorFor(document, id, required);
  const only = { id, url, weight: undefined, tags: undefined, pin, credentials: common, identity: commonIdentity };
  return [{ ...only, settings, floor, ...paths }];
}

/** The profiles without a stricter rule of their own. */
const PRIVATE_IN: ReadonlySet<ConfigDocument["profile"]> = new Set([undefined, "minimal"]);

/** Openings name an agent, which means all its upstreams, or one upstream of it. */
function floorFor(
  { profile, clearText = PRIVATE_IN.has(profile) ? "private" : "loopback", openings = [] }: ConfigDocument,
  upstream: string,
  require: readonly Requirement[],
): UpstreamConfig["floor"] {
  const [agent] = upstream.split("/", 1);
  return { require, clearText, openings: openings.filter((each) => each.upstream === upstream || each.upstream === agent) };
}
