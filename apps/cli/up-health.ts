import type { NodeStatus, Plan } from "../up/index.js";
import type { Output } from "./output.js";
import { oneLine, printable } from "./printable.js";
import { networkJson } from "./up-network.js";

/** What people and programs see of a running network. */
export interface HealthView {
  /** A module wrote something. */
  line(id: string, text: string): void;
  /** A node changed. */
  change(status: NodeStatus, all: readonly NodeStatus[]): void;
  say(text: string): void;
  end(): void;
}

/** Lines of JSON; or a table below the output of the modules on a terminal; or a plain line per change. */
export function healthView(output: Output, plan: Plan): HealthView {
  if (output.format === "json") return jsonView(output, plan);
  return output.stderr.isTTY === true ? tableView(output, plan) : plainView(output, plan);
}

function jsonView(output: Output, plan: Plan): HealthView {
  const prefix = prefixer(output, plan);
  void output.line({ kind: "network", ...networkJson(plan) });
  return {
    line: (id, text) => output.say(prefix(id, text)),
    change: (status) => void output.line({ ...statusJson(status) }),
    say: () => undefined,
    end: () => void output.line({ kind: "end" }),
  };
}

function statusJson({ kind, pid, problem, ...status }: NodeStatus) {
  return { kind: "node", runs: kind, ...status, pid: pid ?? null, problem: problem ?? null };
}

function plainView(output: Output, plan: Plan): HealthView {
  const prefix = prefixer(output, plan);
  return {
    line: (id, text) => output.say(prefix(id, text)),
    change: (status) => output.say(rowOf(status, widthOf(plan), output)),
    say: (text) => output.say(text),
    end: () => output.say("Nothing is left running."),
  };
}

const ERASE_BELOW = "\u001b[0J";
const DEFAULT_COLUMNS = 80;

/** The table stands below everything that was said; each change takes it away and draws it again. */
function tableView(output: Output, plan: Plan): HealthView {
  const prefix = prefixer(output, plan);
  const width = widthOf(plan);
  let drawn = 0;
  let nodes: readonly NodeStatus[] = [];
  const erase = (): void => {
    if (drawn > 0) output.stderr.write(`\u001b[${drawn}A\r${ERASE_BELOW}`);
    drawn = 0;
  };
  const draw = (): void => {
    erase();
    for (const status of nodes) output.say(rowOf(status, width, output));
    drawn = nodes.length;
  };
  const above = (text: string): void => {
    erase();
    output.say(text);
    draw();
  };
  return {
    line: (id, text) => above(prefix(id, text)),
    change(_status, all) {
      nodes = all;
      draw();
    },
    say: above,
    end: () => output.say("Nothing is left running."),
  };
}

/** The longest name: those of bridges are made of two. */
function widthOf({ network }: Plan): number {
  return Math.max(...network.nodes.map(({ id }) => id.length), 4) + (network.bridges.length > 0 ? 6 : 0);
}

/** One line that fits: a longer one would wrap, and what wraps cannot be taken away again. */
function rowOf(status: NodeStatus, width: number, { colors, stderr }: Output): string {
  const { id, state, pin, protocol, url, pid, restarts, problem } = status;
  const paint = state === "ready" ? colors.green : state === "gave-up" ? colors.red : colors.yellow;
  const facts = [
    pin === "" ? protocol : pin,
    url,
    pid === undefined ? "" : `pid ${pid}`,
    restarts === 0 ? "" : `restarts ${restarts}`,
    problem ?? "",
  ].filter((fact) => fact !== "");
  const columns = stderr.isTTY === true ? (stderr.columns || DEFAULT_COLUMNS) - width - 13 : Number.POSITIVE_INFINITY;
  return `${colors.bold(id.padEnd(width))} ${paint(state.padEnd(10))} ${oneLine(facts.join(" · "), columns)}`;
}

/** Every module has a colour of its own; what it writes cannot do anything to the terminal. */
function prefixer({ colors }: Output, plan: Plan): (id: string, text: string) => string {
  const palette = [colors.cyan, colors.magenta, colors.blue, colors.green, colors.yellow];
  const ids = plan.network.nodes.map((node) => node.id);
  const width = widthOf(plan);
  return (id, text) => {
    const paint = palette[Math.max(0, ids.indexOf(id)) % palette.length] ?? colors.dim;
    return `${paint(`${id.padEnd(width)} |`)} ${printable(text)}`;
  };
}
