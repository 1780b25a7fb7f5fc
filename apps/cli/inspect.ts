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
import { type LookOptions, look } from "./inspect-host.js";
import { MessagePrinter } from "./inspect-print.js";
import { createOutput, type Format, type Output } from "./output.js";

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

export function filterOf({ agent, trace, protocol, direction, failed, text }: InspectFilterOptions): CaptureFilter {
  return { agent, traceId: trace, protocol, direction, status: failed === true ? "failed" : undefined, text };
}

export async function inspect(url: string, options: InspectOptions): Promise<void> {
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
