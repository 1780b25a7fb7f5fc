import { agent, serve } from "../src/index.js";
import type { Subject } from "../src/protocols/requirement.js";
import type { Protocol } from "../src/public/protocols.js";
import { conformanceAgent, conformanceSkill } from "./agent.js";
import { formatGrid, toGrid } from "./grid.js";
import { type Report, type RequirementResult, type RunOptions, runConformance } from "./run.js";

/** The part of a protocol that a run needs. */
type TestedProtocol = Pick<Protocol, "id" | "requirements" | "traits">;

/** One side of a gateway and its protocols. */
export interface BridgeEnd {
  readonly subject: Subject;
  readonly protocols: readonly TestedProtocol[];
}

/** A requirement that is met without the gateway and not through it. */
export interface Broken {
  readonly id: string;
  readonly protocol: string;
  readonly level: RequirementResult["level"];
  readonly source: string;
  readonly behaviour: string;
  /** Which server meets it without the gateway: the agent, or a reference host for protocols the agent does not have. */
  readonly metBy: "upstream" | "plain host";
  /** What was observed through the gateway. */
  readonly detail: string;
}

/** An agent compared with itself through a gateway. `schema` changes when a member changes its meaning. */
export interface ThroughReport {
  readonly schema: 1;
  readonly upstream: string;
  readonly gateway: string;
  /** The agent, called directly, in its own protocols. */
  readonly direct: Report;
  /** The gateway, in all its protocols. */
  readonly through: Report;
  /** Requirements that only the gateway breaks. */
  readonly broken: readonly Broken[];
  /** Met directly, but not offered by the gateway, with the reason. */
  readonly dropped: readonly { readonly id: string; readonly reason: string }[];
  /** Needs streams, which the agent does not have: the gateway emulates them with one final event. */
  readonly stoodIn: readonly string[];
  /** Not met by the agent, but met through the gateway. */
  readonly mended: readonly string[];
  /** Whether the gateway breaks nothing. */
  readonly holds: boolean;
}

/** The runs of a gateway comparison, in order. */
export type Stage = "upstream" | "gateway" | "plain host" | "gateway again";

/** Options of `runThrough`. */
export interface ThroughOptions extends Pick<RunOptions, "only" | "timeoutMs" | "now"> {
  /** Called after each requirement of each stage. */
  readonly onProgress?: (stage: Stage, result: RequirementResult, done: number, total: number) => void;
  /** A host that is known to conform. Default: Koine on a free loopback port. */
  readonly openHost?: () => Promise<{ readonly subject: Subject; close(): Promise<void> }>;
}

/**
 * Runs the requirements against an agent directly and through a gateway, and compares. The gateway breaks a requirement if the
 * agent meets it, or if a reference host meets it in a protocol the agent does not have; a failure must repeat to count.
 */
export async function runThrough(upstream: BridgeEnd, gateway: BridgeEnd, options: ThroughOptions = {}): Promise<ThroughReport> {
  const run = (stage: Stage, { subject, protocols }: BridgeEnd, only = options.only) =>
    runConformance(subject, protocols, {
      only,
      timeoutMs: options.timeoutMs,
      now: options.now,
      onProgress: (result, done, total) => options.onProgress?.(stage, result, done, total),
    });

  const direct = await run("upstream", upstream);
  const through = await run("gateway", gateway);
  const outcomes = new Map(direct.verdicts.map(({ id, outcome }) => [id, outcome]));
  const agentsOwn = new Set(direct.verdicts.filter(({ outcome }) => outcome === "unmet").map(({ id }) => dutyOf(id)));
  const unmet = through.verdicts.filter(({ outcome }) => outcome === "unmet");
  const judgedByHost = unmet.filter(({ id }) => (outcomes.get(id) ?? "skipped") === "skipped" && !agentsOwn.has(dutyOf(id)));
  const byHost = await metByHost(judgedByHost, gateway.protocols, run, options.openHost ?? openPlainHost);
  const suspects = unmet.flatMap((result) => {
    if (outcomes.get(result.id) === "met") return [brokenBy(result, "upstream")];
    return byHost.has(result.id) ? [brokenBy(result, "plain host")] : [];
  });
  const again = suspects.length === 0 ? undefined : await run("gateway again", gateway, idsOf(suspects));
  const stillUnmet = new Set(again?.verdicts.filter(({ outcome }) => outcome === "unmet").map(({ id }) => id));
  const confirmed = suspects.filter(({ id }) => stillUnmet.has(id));
  const canStream = upstream.protocols.some(({ traits }) => traits.streaming);
  const streaming = new Set(idsOf(unmet.filter(({ capability }) => capability === "streaming" && !canStream)));
  const broken = confirmed.filter(({ id }) => !streaming.has(id));
  return {
    schema: 1,
    upstream: direct.url,
    gateway: through.url,
    direct,
    through,
    broken,
    dropped: through.verdicts
      .filter(({ id, outcome }) => outcome === "skipped" && outcomes.get(id) === "met")
      .map(({ id, detail }) => ({ id, reason: detail ?? "" })),
    stoodIn: idsOf(confirmed.filter(({ id }) => streaming.has(id))),
    mended: idsOf(through.verdicts.filter(({ id, outcome }) => outcome === "met" && outcomes.get(id) === "unmet")),
    holds: broken.length === 0,
  };
}

/** The requirements that the reference host meets. It is started only if needed. */
async function metByHost(
  verdicts: readonly RequirementResult[],
  protocols: readonly TestedProtocol[],
  run: (stage: Stage, end: BridgeEnd, only: readonly string[]) => Promise<Report>,
  openHost: NonNullable<ThroughOptions["openHost"]>,
): Promise<ReadonlySet<string>> {
  if (verdicts.length === 0) return new Set();
  const host = await openHost();
  try {
    const report = await run("plain host", { subject: host.subject, protocols }, idsOf(verdicts));
    return new Set(idsOf(report.verdicts.filter(({ outcome }) => outcome === "met")));
  } finally {
    await host.close();
  }
}

function brokenBy({ id, protocol, level, source, behaviour, detail }: RequirementResult, metBy: Broken["metBy"]): Broken {
  return { id, protocol, level, source, behaviour, metBy, detail: detail ?? "" };
}

function idsOf(those: readonly { readonly id: string }[]): readonly string[] {
  return those.map(({ id }) => id);
}

/** The requirement without its interface: an agent that fails it on its own interface fails it on every other. */
function dutyOf(id: string): string {
  return id.split(":").slice(-2).join(":");
}

async function openPlainHost(): ReturnType<NonNullable<ThroughOptions["openHost"]>> {
  // Imported on demand: everything else here needs only a client.
  const { httpExchange } = await import("./http-exchange.js");
  const conform = agent({
    name: "conform",
    description: "does what a check asks for",
    handle: conformanceAgent,
    skills: [conformanceSkill],
  });
  const server = await serve(conform, { push: { allow: ["127.0.0.1"] } });
  const subject = { url: server.url, exchange: httpExchange, headers: {}, newId: () => crypto.randomUUID() };
  return { subject, close: () => server.close() };
}

/** The report as text: the grid of both sides, then what only the gateway breaks, then what it does not offer. */
export function formatThrough({ upstream, gateway, direct, through, broken, dropped, stoodIn, mended }: ThroughReport): string {
  const lines = [`directly, ${upstream}`, formatGrid(toGrid(direct)), "", `through ${gateway}`, formatGrid(toGrid(through)), ""];
  for (const { id, level, source, behaviour, metBy, detail } of broken)
    lines.push(`✗ ${id} (${level}, ${source})`, `    ${behaviour}`, `    met by the ${metBy}; through the gateway: ${detail}`);
  for (const [reason, count] of countedBy(dropped.map(({ reason }) => reason)))
    lines.push(`– ${count} met directly and not offered by the gateway: ${reason}`);
  if (stoodIn.length > 0)
    lines.push(`◐ ${stoodIn.length} need streams, which the upstream's protocol does not have: ${stoodIn.join(", ")}`);
  lines.push(`${broken.length} broken by the gateway, ${dropped.length} not offered by it, ${mended.length} met only through it`);
  return lines.join("\n");
}

function countedBy(words: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}
