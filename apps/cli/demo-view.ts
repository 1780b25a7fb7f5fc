import { type AgentRow, agentRows, type Demo, type Harbour } from "../demo/index.js";
import type { NodeStatus } from "../up/index.js";
import { agentTable, decisionLines, figureLine, triesOf } from "./demo-words.js";
import type { Output } from "./output.js";
import { oneLine, printable } from "./printable.js";

/** What people and programs see of the demo. */
export interface DemoView {
  planned(harbour: Harbour): void;
  status(status: NodeStatus): void;
  /** An agent wrote something. */
  line(id: string, text: string): void;
  up(demo: Demo, afterMs: number, wantedPort: number): void;
  stopping(): void;
  end(): void;
}

/** At most so often the table is drawn, and so often figures are told where there is none. */
const REDRAW_MS = 250;
const FIGURES_MS = 10_000;

/** Lines of JSON; or a table that changes in its place on a terminal; or plain lines. */
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
      void output.line({ kind: "up", afterMs: Math.round(afterMs), url, page: pageUrl ?? null });
      stop = every(FIGURES_MS, () => void output.line({ kind: "figures", agents: agentRows(demo).map(plain) }));
    },
    stopping: () => stop(),
    end: () => void output.line({ kind: "end" }),
  };
}

/** Without what is undefined, which JSON has no word for. */
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

const STOPPING = "Stopping. Once more stops at once.";
const NOTHING_LEFT = "Nothing is left running.";
const ERASE_BELOW = "\u001b[0J";

/** The table stands below everything that was said; what changes takes it away and draws it again. */
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
    // The table says it, once there is one.
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
    `Up after ${(afterMs / 1000).toFixed(1)} s: ${demo.present().length} agents, each in a process of its own, and a gateway in front of them.`,
    ...missing.map(({ id, problem }) => yellow(`${id} is missing: ${problem ?? "cannot be had"}. Nothing stands in for it.`)),
    ...(taken ? [yellow(`Port ${wantedPort} is taken, so that the gateway is on ${gateway.port}.`)] : []),
    `${bold("page")}  ${gateway.pageUrl ?? gateway.url}`,
    dim("Try, in another terminal:"),
    ...triesOf(demo).map((line) => (line.startsWith("#") ? dim(`  ${line}`) : `  ${line}`)),
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
