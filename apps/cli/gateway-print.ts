import type { JsonObject } from "../../src/index.js";
import { protocols } from "../../src/public/protocols.js";
import type { AgentLosses, AgentStatus, Gateway, ReloadReport } from "../gateway/index.js";
import { callsToTry } from "./calls-to-try.js";
import type { Output } from "./output.js";
import { oneLine } from "./printable.js";

const LINE = 300;

/** Everything an operator wants to know when a gateway has started. */
export async function sayGateway(gateway: Gateway, output: Output, tryIt: boolean): Promise<void> {
  const { bold, dim, yellow } = output.colors;
  output.say(`Gateway at ${bold(gateway.url)}`);
  for (const agent of gateway.agents()) sayAgent(agent, output);
  output.say(`  callers    ${gateway.callers}`);
  output.say(`  tasks      ${gateway.durability}`);
  if (gateway.pageUrl !== undefined) output.say(`  page       ${gateway.pageUrl}`);
  for (const warning of gateway.warnings) output.say(yellow(`  warning    ${warning}`));
  if (tryIt) await sayCalls(gateway, output);
  output.say(dim("\nCtrl-C stops it, after the calls under way have ended."));
}

function sayAgent(agent: AgentStatus, output: Output): void {
  const { bold, dim, green, red, yellow } = output.colors;
  const paint = agent.health === "up" ? green : red;
  output.say(`  ${bold(agent.name)}  ${paint(agent.health)}  ${agent.mode}  ${oneLine(agent.card.description, LINE)}`);
  for (const { id, url, speaks, proved, problem, evidence } of agent.upstreams) {
    const known = speaks === undefined ? "" : `  ${speaks}, ${proved ? "proved by a live answer" : "not proved yet"}`;
    output.say(`    behind   ${id === agent.name ? "" : `${id}  `}${url}${known}`);
    if (problem !== undefined) output.say(yellow(`             ${oneLine(problem, LINE)}`));
    for (const sentence of evidence) output.say(dim(`             ${oneLine(sentence, LINE)}`));
  }
  for (const { protocol, version, binding, url } of agent.interfaces)
    output.say(dim(`    in front ${`${protocol}@${version}`.padEnd(10)} ${binding.padEnd(10)} ${url}`));
  for (const line of [...standIns(agent), ...agent.notes]) output.say(`    note     ${line}`);
}

/** What the gateway does in place of an agent whose wire cannot. */
function standIns({ upstreams, mode }: AgentStatus): readonly string[] {
  if (mode === "relay") return [];
  const spoken = new Set(upstreams.flatMap(({ speaks }) => (speaks === undefined ? [] : [speaks.split("@", 1)[0]])));
  return protocols
    .filter(({ id }) => spoken.has(id))
    .flatMap(({ id, traits }) => [
      ...(traits.streaming ? [] : [`${id} has no streams: one final event stands for them`]),
      ...(traits.tasks ? [] : [`${id} has no tasks: the gateway's own task stands for them`]),
    ]);
}

async function sayCalls(gateway: Gateway, output: Output): Promise<void> {
  const [first] = gateway.agents();
  if (first === undefined) return;
  output.say("\nTry, in another terminal:\n");
  const { url, security } = gateway;
  for (const line of await callsToTry({ url, card: first.card, interfaces: first.interfaces, security }))
    output.say(line.startsWith("#") ? output.colors.dim(`  ${line}`) : `  ${line}`);
}

/** The same for programs. */
export function gatewayJson(gateway: Gateway): JsonObject {
  return {
    kind: "gateway",
    url: gateway.url,
    port: gateway.port,
    page: gateway.pageUrl ?? null,
    durability: gateway.durability,
    warnings: [...gateway.warnings],
    agents: gateway.agents().map(({ name, health, problem, mode, upstreams, interfaces, notes }) => ({
      name,
      health,
      problem: problem ?? null,
      mode,
      upstreams: upstreams.map((each) => ({
        id: each.id,
        url: each.url,
        health: each.health,
        problem: each.problem ?? null,
        speaks: each.speaks ?? null,
        proved: each.proved,
        evidence: [...each.evidence],
      })),
      interfaces: interfaces.map(({ protocol, version, binding, url }) => ({ protocol, version, binding, url })),
      notes: [...notes],
    })),
  };
}

/** What a reload did, on one line. */
export function reloadLine({ added, changed, removed, kept, warnings }: ReloadReport): string {
  const words = (what: string, names: readonly string[]): readonly string[] =>
    names.length === 0 ? [] : [`${what} ${names.join(", ")}`];
  const all = [...words("added", added), ...words("changed", changed), ...words("removed", removed), ...words("kept", kept)];
  return [
    `The configuration was read anew and is in use: ${all.join("; ")}.`,
    ...warnings.map((each) => `  warning    ${each}`),
  ].join("\n");
}

/** What could not be carried in a run; that nothing was lost is said with how much went through. */
export function lossLines(agents: readonly AgentLosses[]): readonly string[] {
  return agents.flatMap(({ agent, messages, losses, others }) => {
    const through = `${messages} ${messages === 1 ? "message" : "messages"}`;
    if (losses.length === 0 && others === 0) return [`${agent}: nothing was lost in ${through}.`];
    return [
      `${agent}: lost on the way in ${through}:`,
      ...losses.map(
        ({ count, protocol, path, reason }) =>
          `  ${String(count).padStart(5)} × ${protocol.padEnd(6)} ${oneLine(path, 80)} (${oneLine(reason, LINE)})`,
      ),
      ...(others === 0 ? [] : [`  ${String(others).padStart(5)} × of other kinds`]),
    ];
  });
}

export function lossesJson(agents: readonly AgentLosses[]): JsonObject[] {
  return agents.map(({ agent, messages, losses, others }) => ({
    agent,
    messages,
    others,
    losses: losses.map(({ protocol, path, valueKind, reason, count }) => ({ protocol, path, kind: valueKind, reason, count })),
  }));
}
