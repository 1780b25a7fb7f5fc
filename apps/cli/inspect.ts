import { type Command, Option } from "commander";
import type { Json } from "../../src/index.js";
import {
  type CapturedMessage,
  type CaptureFilter,
  followFeed,
  type InspectedHost,
  readMessage,
  readMessages,
  readTrace,
} from "../../src/public/inspect.js";
import { ExchangeGroups } from "./inspect-groups.js";
import { addLookOptions, type LookOptions, look } from "./inspect-host.js";
import { MessagePrinter } from "./inspect-print.js";
import { parseCount } from "./option-values.js";
import { createOutput, type Format, type Output } from "./output.js";
import { outputOption } from "./peer.js";

export interface InspectFilterOptions {
  readonly agent?: string;
  readonly trace?: string;
  readonly protocol?: string;
  readonly direction?: "in" | "out";
  readonly failed?: boolean;
  readonly text?: string;
}

interface InspectOptions extends LookOptions, InspectFilterOptions {
  readonly output: Format;
  readonly bytes?: boolean;
  readonly tree?: boolean;
  readonly once?: boolean;
  readonly last: number;
}

const LAST_DEFAULT = 100;
const EXAMPLES = `
Examples:
  koine inspect http://127.0.0.1:8080                        every exchange as it ends
  koine inspect http://127.0.0.1:8080 --bytes                with wire bytes in, envelope, wire bytes out
  koine inspect http://127.0.0.1:8080 --once --failed        what went wrong lately
  koine inspect http://127.0.0.1:8080 --once --tree --trace 4bf92f3577b34da6a3ce929d0e0e4736
  koine inspect http://127.0.0.1:8080 -o json | jq -r .text

Credentials are never shown: header fields and JSON members that hold them are left out before anything is kept.`;

/** `koine inspect`: what a gateway says and hears. */
export function addInspect(program: Command): void {
  const command = program
    .command("inspect")
    .description("show the messages of a gateway as they pass: wire in, envelope, wire out, losses")
    .argument("<gateway-url>", "where the gateway is")
    .option("--bytes", "show the bytes of every request and response, and the envelope between them")
    .option("--tree", "draw the trace of every exchange as a tree")
    .option("--once", "show what is there, and end")
    .option("--last <count>", "with --once: how many", parseCount, LAST_DEFAULT);
  addLookOptions(addFilterOptions(command)).addOption(outputOption()).addHelpText("after", EXAMPLES).action(inspect);
}

export function addFilterOptions(command: Command): Command {
  return command
    .optionsGroup("Which messages:")
    .option("--agent <name>", "to or from this agent")
    .option("--trace <id>", "of this trace: 32 hex digits or a UUID")
    .option("--protocol <id>", "in this protocol")
    .addOption(new Option("--direction <way>", "only calls to the gateway, or only those it makes").choices(["in", "out"]))
    .option("--failed", "only what failed")
    .option("--text <words>", "in which these words occur");
}

export function filterOf({ agent, trace, protocol, direction, failed, text }: InspectFilterOptions): CaptureFilter {
  return { agent, traceId: trace, protocol, direction, status: failed === true ? "failed" : undefined, text };
}

async function inspect(url: string, options: InspectOptions): Promise<void> {
  const output = createOutput(options.output);
  await look(url, options, (host) => (options.once === true ? showOnce(host, options, output) : showLive(host, options, output)));
}

/** The oldest first, as they would have passed. */
async function showOnce(host: InspectedHost, options: InspectOptions, output: Output): Promise<void> {
  const summaries = await readMessages(host, filterOf(options), options.last);
  const found: CapturedMessage[] = [];
  for (const { id } of summaries.toReversed()) {
    const sighting = await readMessage(host, id);
    if (sighting !== undefined) found.push(sighting);
  }
  found.sort((a, b) => a.at - b.at);
  const shown = shower(host, options, output);
  for (const group of ExchangeGroups.of(found)) await shown(group);
}

async function showLive(host: InspectedHost, options: InspectOptions, output: Output): Promise<void> {
  const shown = shower(host, options, output);
  const groups = new ExchangeGroups(shown);
  try {
    for await (const item of followFeed(host, filterOf(options))) {
      if (item.kind === "message") groups.see(item.message);
      else if (item.kind === "gap") output.say(output.colors.yellow(`at least ${item.missed} messages were forgotten unseen`));
      else if (item.kind === "cut") output.say(output.colors.dim(`${item.error.message}; trying again`));
      else if (options.output === "text") output.say(output.colors.dim(`Looking at ${host.url}. Ctrl-C ends it.`));
    }
  } finally {
    await groups.end();
  }
}

function shower(
  host: InspectedHost,
  options: InspectOptions,
  output: Output,
): (group: readonly CapturedMessage[]) => Promise<void> {
  const printer = new MessagePrinter(output, options.bytes === true);
  const drawn = new Set<string>();
  return async (group) => {
    if (output.format === "json") {
      for (const sighting of group) await output.line(sighting as unknown as Json); // read as JSON
      return;
    }
    const [first] = group;
    if (first === undefined) return;
    if (options.tree !== true) return printer.group(group);
    // In one look every trace is drawn once; live it is drawn again when more of it has ended.
    if (options.once === true && drawn.has(first.traceId)) return;
    drawn.add(first.traceId);
    await printer.tree(await readTrace(host, first.traceId));
  };
}
