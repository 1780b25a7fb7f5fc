import { type AgentRow, agentRows, type Demo, type DemoPlan } from "../demo/index.js";
import type { NodeStatus } from "../up/index.js";
import type { Output } from "./output.js";
import { ownCommand } from "./own-command.js";
import { oneLine, printable } from "./printable.js";

/** What people and programs see of the demo. */
export interface DemoView {
  planned(harbour: DemoPlan): void;
  status(status: NodeStatus): void;
  /** An agent wrote something. */
  line(id: string, text: string): void;
  up(demo: Demo, afterMs: number, wantedPort: number): void;
  stopping(): void;
  end(): void;
}

/** Intervals of redrawing the table, and of printing figures without one. */
const REDRAW_MS = 250;
const FIGURES_MS = 10_000;

/** JSON lines; or a live table on a terminal; or plain lines. */
export function demoView(output: Output): DemoView {
  if (output.format === "json") return jsonView(output);
  return output.stderr.isTTY === true ? tableView(output) : plainView(output);
}

function jsonView(output: Output): DemoView {
  let stop = (): void => undefined;
  return {
    planned: ({ decisions }) => {
      for (const decision of decisions) void output.line({ kind: "decision", ...plain(decision) });
    },
    status: ({ kind: runs, ...status }) => void output.line({ kind: "node", runs, ...plain(status) }),
    line: (id, text) => output.say(`${id} | ${printable(text)}`),
    up(demo, afterMs) {
      const { url, pageUrl } = demo.gateway;
      void output.line({ kind: "up", afterMs: Math.round(afterMs), url, page: pageUrl ?? null, registry: demo.sealed.registry });
      stop = every(FIGURES_MS, () => void output.line({ kind: "figures", agents: agentRows(demo).map(plain) }));
    },
    stopping: () => stop(),
    end: () => void output.line({ kind: "end" }),
  };
}

/** Drops undefined members. */
function plain<T extends object>(value: T) {
  return JSON.parse(JSON.stringify(value)); // an object of JSON values stays one
}

function plainView(output: Output): DemoView {
  let stop = (): void => undefined;
  return {
    planned: (harbour) => sayAll(output, decisionLines(harbour, output)),
    status: ({ id, state, pid, problem }) => {
      const facts = [pid === undefined ? "" : `pid ${pid}`, problem ?? ""].filter((fact) => fact !== "");
      output.say(`${id} ${state}${facts.length === 0 ? "" : ` · ${oneLine(facts.join(" · "), Number.POSITIVE_INFINITY)}`}`);
    },
    line: (id, text) => output.say(`${id} | ${printable(text)}`),
    up(demo, afterMs, wantedPort) {
      sayAll(output, upLines(demo, afterMs, wantedPort, output));
      stop = every(FIGURES_MS, () => sayAll(output, agentRows(demo).map(figureLine)));
    },
    stopping() {
      stop();
      output.say(STOPPING);
    },
    end: () => output.say(NOTHING_LEFT),
  };
}

const STOPPING = "Stopping. Press Ctrl-C again to stop immediately.";
const NOTHING_LEFT = "Nothing is left running.";
const ERASE_BELOW = "\u001b[0J";

/** The table stays below all other output; each change erases and redraws it. */
function tableView(output: Output): DemoView {
  const { stderr } = output;
  let drawn = 0;
  let rows: () => readonly AgentRow[] = () => [];
  let stop = (): void => undefined;
  const erase = (): void => {
    if (drawn > 0) stderr.write(`\u001b[${drawn}A\r${ERASE_BELOW}`);
    drawn = 0;
  };
  const draw = (): void => {
    erase();
    const lines = agentTable(rows(), output);
    sayAll(output, lines);
    drawn = lines.length;
  };
  const above = (lines: readonly string[]): void => {
    erase();
    sayAll(output, lines);
    draw();
  };
  return {
    planned: (harbour) => sayAll(output, [...decisionLines(harbour, output), output.colors.dim("Starting the agents …")]),
    // The table shows it.
    status: () => undefined,
    line: (id, text) => above([`${id} | ${printable(text)}`]),
    up(demo, afterMs, wantedPort) {
      sayAll(output, upLines(demo, afterMs, wantedPort, output));
      rows = () => agentRows(demo);
      draw();
      stop = onceIn(REDRAW_MS, (changed) => demo.onChange(changed), draw);
    },
    stopping() {
      stop();
      above([STOPPING]);
    },
    end: () => output.say(NOTHING_LEFT),
  };
}

function sayAll(output: Output, lines: readonly string[]): void {
  for (const line of lines) output.say(line);
}

function upLines(demo: Demo, afterMs: number, wantedPort: number, output: Output): readonly string[] {
  const { bold, dim, yellow } = output.colors;
  const { gateway, network } = demo;
  const missing = network.nodes().filter(({ state }) => state === "unspoken");
  const taken = wantedPort !== 0 && gateway.port !== wantedPort;
  return [
    "",
    `Up after ${(afterMs / 1000).toFixed(1)} s: ${network.nodes().length - missing.length} agents, each in a process of its own, and one gateway.`,
    `The insurer seals messages for the vault; the gateway passes them on unread. Their DIDs are in ${demo.sealed.registry}.`,
    ...missing.map(({ id, problem }) => yellow(`${id} is missing: ${problem ?? "not available"}.`)),
    ...(taken ? [yellow(`Port ${wantedPort} is in use; the gateway listens on ${gateway.port}.`)] : []),
    `${bold("page")}  ${gateway.pageUrl ?? gateway.url}`,
    dim("Try, in another terminal:"),
    ...commandsToTry(demo).map((line) => (line.startsWith("#") ? dim(`  ${line}`) : `  ${line}`)),
    dim("Ctrl-C ends all of it."),
    "",
  ];
}

function every(ms: number, run: () => void): () => void {
  const timer = setInterval(run, ms);
  return () => clearInterval(timer);
}

/** Runs after a change, once for all changes within this time. */
function onceIn(ms: number, watch: (changed: () => void) => () => void, run: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const off = watch(() => {
    timer ??= setTimeout(() => {
      timer = undefined;
      run();
    }, ms);
  });
  return () => {
    off();
    clearTimeout(timer);
  };
}

const DEFAULT_COLUMNS = 80;
const EVIDENCE_AT_LEAST = 20;

/** The decision for every module, with its evidence. */
function decisionLines({ decisions, plan }: DemoPlan, { colors, stderr }: Output): readonly string[] {
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

/** The width of a terminal; unlimited for a file. */
function columnsOf(stderr: Output["stderr"]): number {
  return stderr.isTTY === true ? stderr.columns || DEFAULT_COLUMNS : Number.POSITIVE_INFINITY;
}

const HEAD = ["agent", "speaks", "health", "pid", "msgs", "failed", "p50 ms", "p95 ms", "last message"] as const;
/** Right-aligned columns. */
const RIGHT: ReadonlySet<number> = new Set([3, 4, 5, 6, 7]);

/** The agents in figures: a head, and a line each. No line is wider than the terminal: wrapped lines cannot be erased. */
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

/** Cuts without collapsing spaces, which align the table. */
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
  const note = health === "up" || problem === undefined ? last : problem;
  const figures = way === "" ? ["–", "–", "–", "–"] : [String(messages), String(failures), ms(p50), ms(p95)];
  return [id, way === "" ? protocol : way, state, pid === undefined ? "–" : String(pid), ...figures, oneLine(note, 60)];
}

/** A row as one line, without a terminal. */
export function figureLine(row: AgentRow): string {
  const [id, speaks, state, , messages, failed, p50, p95, last] = cellsOf(row);
  if (row.health === "missing") return `${id} ${state} · ${speaks} · ${last}`;
  return `${id} ${state} · ${speaks} · messages ${messages} · failed ${failed} · p50 ${p50} ms · p95 ${p95} ms · ${last}`;
}

/** Commands for this demo, ready to copy. */
function commandsToTry({ gateway, network }: Demo): readonly string[] {
  const nodes = network.nodes();
  const berths = nodes.find(({ id }) => id === "berths");
  const [other] = gateway.interfaces("berths").filter(({ protocol }) => !(berths?.pin ?? "").startsWith(protocol));
  return [
    `# ask the ${berths?.pin} agent itself, and the same one in ${other?.protocol} through the gateway`,
    `${ownCommand()} send ${berths?.url} 'A place for "Aurora", 28 metres'`,
    `${ownCommand()} send ${other?.url} 'A place for "Aurora", 28 metres'`,
    "# every message with its bytes in, envelope, bytes out",
    `KOINE_TOKEN=<the token in the page's address> ${ownCommand()} inspect ${gateway.admin?.url} --bytes`,
    "# kill an agent, and watch it come back",
    `kill -9 ${berths?.pid}`,
  ];
}
