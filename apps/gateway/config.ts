import type { Maybe } from "../../src/index.js";
import type { MemberPath } from "../config/index.js";
import type { CallersDocument } from "./callers-schema.js";
import type { Complaints } from "./config-problem.js";
import type { AgentDocument, ConfigDocument, CredentialPlaces, TrustPlaces } from "./config-schema.js";
import type { PolicyDocument } from "./policy-schema.js";

/** One place where an agent is. */
export interface UpstreamConfig {
  readonly id: string;
  readonly url: string;
  readonly weight: Maybe<number>;
  readonly tags: Maybe<readonly string[]>;
  readonly pin: Maybe<string>;
  readonly credentials: CredentialPlaces;
  /** Where in the configuration it stands, and where its credentials do. */
  readonly path: MemberPath;
  readonly credentialPath: MemberPath;
}

/** An agent with everything that the defaults say for it. */
export interface AgentConfig {
  readonly name: string;
  readonly upstreams: readonly [UpstreamConfig, ...UpstreamConfig[]];
  readonly sharedKeys: boolean;
  readonly mode: "adopt" | "relay";
  readonly strict: boolean;
  readonly card: AgentDocument["card"];
  readonly timeoutMs: Maybe<number>;
  readonly trust: Maybe<TrustPlaces>;
  readonly trustPath: MemberPath;
  readonly callers: CallersDocument;
  readonly callersPath: MemberPath;
  readonly policies: PolicyDocument;
  readonly path: MemberPath;
}

/** A configuration that fits together. The files it names have not been read yet. */
export interface GatewayConfig {
  /** As it is written, with values from the environment. Nothing of it is to be shown. */
  readonly document: ConfigDocument;
  readonly agents: readonly AgentConfig[];
  /** Relative names of files begin here. */
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  /** For problems that are found later: each has its place in the same file. */
  complaints(): Complaints;
}

/** Every agent with the defaults put under what it says itself. */
export function agentsOf({ agents, defaults = {} }: ConfigDocument): readonly AgentConfig[] {
  return agents.map((agent, index) => {
    const path = ["agents", index];
    const { mode = "adopt", strict = false, card, timeoutMs, trust, callers = "own" } = { ...defaults, ...agent };
    return {
      name: agent.name,
      upstreams: upstreamsOf(agent, defaults.credentials, path),
      sharedKeys: agent.sharedKeys ?? false,
      mode,
      strict,
      card,
      timeoutMs,
      trust,
      trustPath: agent.trust === undefined ? ["defaults", "trust"] : [...path, "trust"],
      callers,
      callersPath: agent.callers === undefined ? ["defaults", "callers"] : [...path, "callers"],
      policies: { ...defaults.policies, ...agent.policies },
      path,
    };
  });
}

function upstreamsOf(
  agent: AgentDocument,
  usual: Maybe<CredentialPlaces>,
  path: MemberPath,
): readonly [UpstreamConfig, ...UpstreamConfig[]] {
  const common = agent.credentials ?? usual ?? {};
  const commonPath = agent.credentials === undefined ? ["defaults", "credentials"] : [...path, "credentials"];
  const [first, ...rest] = (agent.upstreams ?? []).map(
    (each, index): UpstreamConfig => ({
      id: each.id,
      url: each.url,
      weight: each.weight,
      tags: each.tags,
      pin: each.pin ?? agent.pin,
      credentials: each.credentials ?? common,
      path: [...path, "upstreams", index, "url"],
      credentialPath: each.credentials === undefined ? commonPath : [...path, "upstreams", index, "credentials"],
    }),
  );
  if (first !== undefined) return [first, ...rest];
  const { name: id, upstream: url = "", pin } = agent; // the schema has seen that one of the two is there
  const place = { path: [...path, "upstream"], credentialPath: commonPath };
  return [{ id, url, weight: undefined, tags: undefined, pin, credentials: common, ...place }];
}
