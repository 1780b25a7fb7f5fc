import type { Maybe } from "../../src/index.js";
import type { MemberPath } from "../config/index.js";
import type { CallersDocument } from "./callers-schema.js";
import type { ConfigProblems } from "./config-problem.js";
import type { AgentDocument, ConfigDocument, CredentialReferences, TrustReferences } from "./config-schema.js";
import type { PolicyDocument } from "./policy-schema.js";

/** One upstream address of an agent. */
export interface UpstreamConfig {
  readonly id: string;
  readonly url: string;
  readonly weight: Maybe<number>;
  readonly tags: Maybe<readonly string[]>;
  readonly pin: Maybe<string>;
  readonly credentials: CredentialReferences;
  /** Path of its URL and of its credentials in the document. */
  readonly path: MemberPath;
  readonly credentialPath: MemberPath;
}

/** An agent with the defaults applied. */
export interface AgentConfig {
  readonly name: string;
  readonly upstreams: readonly [UpstreamConfig, ...UpstreamConfig[]];
  readonly sharedKeys: boolean;
  readonly mode: "adopt" | "relay";
  readonly strict: boolean;
  readonly card: AgentDocument["card"];
  readonly timeoutMs: Maybe<number>;
  readonly trust: Maybe<TrustReferences>;
  readonly trustPath: MemberPath;
  readonly callers: CallersDocument;
  readonly callersPath: MemberPath;
  readonly policies: PolicyDocument;
  readonly path: MemberPath;
}

/** A validated configuration. The files it references have not been read yet. */
export interface GatewayConfig {
  /** The document with environment variables substituted. May hold secrets: never display it. */
  readonly document: ConfigDocument;
  readonly agents: readonly AgentConfig[];
  /** Base directory of relative file names. */
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  /** Collects problems found after parsing, with positions in the same file. */
  newProblems(): ConfigProblems;
}

/** Applies the defaults to every agent. */
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
  defaults: Maybe<CredentialReferences>,
  path: MemberPath,
): readonly [UpstreamConfig, ...UpstreamConfig[]] {
  const common = agent.credentials ?? defaults ?? {};
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
  const { name: id, upstream: url = "", pin } = agent; // the schema guarantees one of upstream and upstreams
  const paths = { path: [...path, "upstream"], credentialPath: commonPath };
  return [{ id, url, weight: undefined, tags: undefined, pin, credentials: common, ...paths }];
}
