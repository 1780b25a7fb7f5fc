import { AgentError, type JsonObject } from "../../src/index.js";
import type { LinkFeature, NetworkLink } from "../../src/public/network.js";
import { floorLine, floorLinks, type LaunchedNetwork, launch, type NodeStatus, type Plan, readPlan } from "../up/index.js";
import { CliError, EXIT } from "./exit.js";
import { listenForInterrupt, STOPPING } from "./interrupt.js";
import { createOutput, type Format, type Output } from "./output.js";
import { oneLine, printable } from "./printable.js";

interface UpOptions {
  readonly output: Format;
  readonly check?: boolean;
}

/** `koine up`: runs a plan until Ctrl-C or until every module was given up, or only checks it. */
export async function runUp(file: string, options: UpOptions): Promise<void> {
  const output = createOutput(options.output);
  const plan = await explained(() => readPlan(file));
  if (options.check === true) {
    const floor = await floorLinks(plan);
    if (output.format === "json") await output.document({ ...networkJson(plan), floor: floor.map((each) => ({ ...each })) });
    else await output.text(networkText(plan));
    for (const link of floor) output.say(output.colors.yellow(`warning: ${printable(floorLine(link))}`));
    const refused = floor.filter(({ outcome }) => outcome === "refused");
    if (refused.length > 0)
      throw new CliError(EXIT.failure, `the calls of ${refused.length} links will be refused`, { code: "downgrade_refused" });
    return;
  }
  await runPlan(plan, output);
}

async function runPlan(plan: Plan, output: Output): Promise<void> {
  const interrupt = listenForInterrupt();
  const view = healthView(output, plan);
  const launched = await explained(() => launch(plan, { onOutput: (id, _stream, line) => view.line(id, line) }));
  const show = (status: NodeStatus): void => view.change(status, launched.nodes());
  for (const status of launched.nodes()) show(status);
  const off = launched.onChange(show);
  try {
    await interrupt.race(nothingLeft(launched)).catch((thrown: unknown) => {
      if (!interrupt.signal.aborted) throw thrown;
    });
  } finally {
    if (interrupt.signal.aborted) view.say(STOPPING);
    await launched.stop();
    off();
    view.end();
    interrupt.stop();
  }
}

/** Rejects when every process was given up. */
function nothingLeft(launched: LaunchedNetwork): Promise<never> {
  return new Promise((_resolve, reject) => {
    const check = (): void => {
      const kept = launched.nodes().filter(({ kind, state }) => kind !== "url" && state !== "unspoken");
      if (kept.length === 0 || kept.some(({ state }) => state !== "gave-up")) return;
      reject(new CliError(EXIT.failure, "every module was given up; nothing is left to keep running"));
    };
    launched.onChange(check);
    check();
  });
}

/** Adds hints for plans to errors. */
async function explained<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    if (!(thrown instanceof AgentError)) throw thrown;
    const hint = HINTS[thrown.code];
    throw new CliError(EXIT.failure, thrown.message, { code: thrown.code, ...(hint === undefined ? {} : { hint }) });
  }
}

const HINTS: { readonly [code: string]: string } = {
  downgrade_refused: "Give both modules a protocol that keeps it, or accept the loss: allowDowngrade: [{ src, dst, because }].",
  unauthenticated: "Set the variable, or write the file; the plan itself holds no secrets.",
  conflict: "A module without a port gets a free one.",
};

/** The output of a running network. */
interface HealthView {
  /** A module wrote something. */
  line(id: string, text: string): void;
  /** A node changed. */
  change(status: NodeStatus, all: readonly NodeStatus[]): void;
  say(text: string): void;
  end(): void;
}

/** JSON lines; or a table below the output of the modules on a terminal; or a plain line per change. */
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

/** The table stays below all other output; each change erases and redraws it. */
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

/** The longest name; names of bridges consist of two. */
function widthOf({ network }: Plan): number {
  return Math.max(...network.nodes.map(({ id }) => id.length), 4) + (network.bridges.length > 0 ? 6 : 0);
}

/** One line that fits the terminal: wrapped lines cannot be erased. */
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

/** Prefixes output with the module's name in its colour; control characters are removed. */
function prefixer({ colors }: Output, plan: Plan): (id: string, text: string) => string {
  const palette = [colors.cyan, colors.magenta, colors.blue, colors.green, colors.yellow];
  const ids = plan.network.nodes.map((node) => node.id);
  const width = widthOf(plan);
  return (id, text) => {
    const paint = palette[Math.max(0, ids.indexOf(id)) % palette.length] ?? colors.dim;
    return `${paint(`${id.padEnd(width)} |`)} ${printable(text)}`;
  };
}

/** The column of the means by which a feature is carried. */
const MEANS_COLUMN = 19;

/** The network of a plan as JSON. */
function networkJson({ network, modules }: Plan): JsonObject {
  const pins = new Map(modules.map(({ id, pin }) => [id, pin]));
  const { nodes, links, bridges } = network;
  return {
    nodes: nodes.map(({ id, protocol, spokenBy, features }) => ({
      id,
      protocol,
      spokenBy: spokenBy ?? null,
      pin: pins.get(id) ?? spokenBy ?? null,
      features: features.map(featureJson),
    })),
    links: links.map(({ src, dst, protocol, features }) => ({ src, dst, protocol, features: features.map(featureJson) })),
    bridges: bridges.map((bridge) => ({ ...bridge })),
  };
}

function featureJson(feature: LinkFeature): JsonObject {
  return { ...feature };
}

/** The network of a plan as text: every module, then every link with its features. */
function networkText({ network, modules }: Plan): string {
  const width = Math.max(...network.nodes.map(({ id }) => id.length));
  const nodes = network.nodes.map(({ id, protocol, spokenBy }) => {
    const pin = modules.find((module) => module.id === id)?.pin ?? spokenBy;
    return `${id.padEnd(width)}  ${protocol.padEnd(5)}  ${pin ?? "not implemented"}`;
  });
  const links = network.links.map((link) => {
    const bridge = network.bridges.find(({ src, dst }) => src === link.src && dst === link.dst);
    return linkText(link, bridge === undefined ? "" : `  by a bridge: ${bridge.decode}, ${bridge.encode}`);
  });
  return `${[...nodes, ...links].map(printable).join("\n")}\n`;
}

function linkText({ src, dst, protocol, features }: NetworkLink, bridge: string): string {
  const names = protocol[0] === protocol[1] ? protocol[0] : protocol.join(" → ");
  const lines = features.map(({ name, on, primitive, because }) => {
    // The two sides of a bridge are on separate lines.
    const means = on ? primitive.replace(" → ", `\n${" ".repeat(MEANS_COLUMN - 2)}→ `) : because;
    return `  ${on ? "on " : "off"}  ${name.padEnd(MEANS_COLUMN - 8)} ${means}`;
  });
  return [`\n${src} → ${dst}  ${names}${bridge}`, ...lines].join("\n");
}
