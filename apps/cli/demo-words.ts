import type { AgentRow, Demo, Harbour } from "../demo/index.js";
import type { Output } from "./output.js";
import { ownCommand } from "./own-command.js";
import { oneLine } from "./printable.js";

const DEFAULT_COLUMNS = 80;
const EVIDENCE_AT_LEAST = 20;

/** What was decided about every module, and the words that decided it. */
export function decisionLines({ decisions, plan }: Harbour, { colors, stderr }: Output): readonly string[] {
  const { bold, dim } = colors;
  const width = Math.max(...decisions.map(({ module_id: id }) => id.length));
  const room = columnsOf(stderr) - width - 36;
  const lines = decisions.map(({ module_id: id, selected_protocol: chosen, margin, evidence_spans: [evidence = ""] }) => {
    const pin = plan.modules.find((module) => module.id === id)?.pin ?? "";
    const words = oneLine(evidence, Math.max(EVIDENCE_AT_LEAST, room));
    return `${bold(id.padEnd(width))}  ${(chosen ?? "–").padEnd(5)}  ${pin.padEnd(15)}  ${margin.toFixed(2)}  ${dim(`“${words}”`)}`;
  });
  return [dim("The router has read the scenario (koine route shows the whole reasoning):"), ...lines];
}

/** A terminal says how wide it is; a file takes everything. */
function columnsOf(stderr: Output["stderr"]): number {
  return stderr.isTTY === true ? stderr.columns || DEFAULT_COLUMNS : Number.POSITIVE_INFINITY;
}

const HEAD = ["agent", "speaks", "health", "pid", "msgs", "failed", "p50 ms", "p95 ms", "last message"] as const;
/** Numbers stand to the right. */
const RIGHT: ReadonlySet<number> = new Set([3, 4, 5, 6, 7]);

/** The agents in figures: a head, and a line each. No line is wider than the terminal: what wraps cannot be taken away again. */
export function agentTable(rows: readonly AgentRow[], { colors, stderr }: Output): readonly string[] {
  if (rows.length === 0) return [];
  const cells = [HEAD, ...rows.map(cellsOf)];
  const widths = HEAD.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  const room = columnsOf(stderr) - 1;
  return cells.map((row, index) => {
    const last = HEAD.length - 1;
    const line = row.map((cell, column) => {
      const width = column === last ? 0 : (widths[column] ?? 0);
      return RIGHT.has(column) ? cell.padStart(width) : cell.padEnd(width);
    });
    const text = cut(line.join("  ").trimEnd(), room);
    return index === 0 ? colors.dim(text) : paintOf(rows[index - 1], colors)(text);
  });
}

/** Spaces stay: they are what makes it a table. */
function cut(line: string, room: number): string {
  return line.length <= room ? line : `${line.slice(0, Math.max(0, room - 1))}…`;
}

type Colors = Output["colors"];

function paintOf(row: AgentRow | undefined, { red, yellow, dim }: Colors): (text: string) => string {
  if (row?.health === "down") return red;
  if (row?.health === "starting") return yellow;
  return row?.health === "missing" ? dim : (text) => text;
}

function cellsOf(row: AgentRow): readonly string[] {
  const { id, protocol, way, health, pid, restarts, messages, failures, p50, p95, last, problem } = row;
  const ms = (value: number | undefined): string => (value === undefined ? "–" : String(value));
  const state = restarts === 0 ? health : `${health} (restarts ${restarts})`;
  const said = health === "up" || problem === undefined ? last : problem;
  const figures = way === "" ? ["–", "–", "–", "–"] : [String(messages), String(failures), ms(p50), ms(p95)];
  return [id, way === "" ? protocol : way, state, pid === undefined ? "–" : String(pid), ...figures, oneLine(said, 60)];
}

/** The same as one line, for where there is no terminal. */
export function figureLine(row: AgentRow): string {
  const [id, speaks, state, , messages, failed, p50, p95, last] = cellsOf(row);
  if (row.health === "missing") return `${id} ${state} · ${speaks} · ${last}`;
  return `${id} ${state} · ${speaks} · messages ${messages} · failed ${failed} · p50 ${p50} ms · p95 ${p95} ms · ${last}`;
}

/** Commands that work as they stand here. */
export function triesOf({ gateway, network }: Demo): readonly string[] {
  const nodes = network.nodes();
  const berths = nodes.find(({ id }) => id === "berths");
  const [way] = gateway.interfaces("berths").filter(({ protocol }) => !(berths?.pin ?? "").startsWith(protocol));
  return [
    `# ask the ${berths?.pin} agent itself, and the same one in ${way?.protocol} through the gateway`,
    `${ownCommand()} send ${berths?.url} 'A place for "Aurora", 28 metres'`,
    `${ownCommand()} send ${way?.url} 'A place for "Aurora", 28 metres'`,
    "# every message with its bytes in, envelope, bytes out",
    `${ownCommand()} inspect ${gateway.url} --bytes`,
    "# kill an agent, and watch it come back",
    `kill -9 ${berths?.pid}`,
  ];
}
