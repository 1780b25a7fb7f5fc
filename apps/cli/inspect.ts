import { AgentError, type Json } from "../../src/index.js";
import { credentialHeaders, limitedSignal } from "../../src/internal.js";
import {
  type CapturedMessage,
  type CaptureFilter,
  followFeed,
  type InspectedHost,
  readMessage,
  readMessages,
  readTrace,
} from "../../src/public/inspect.js";
import { cancelFrom } from "../../src/public/protocols.js";
import { poolLink } from "../../src/transport/node/index.js";
import type { CredentialOptions, IdentityCredentialOptions } from "./credentials.js";
import { CliError, EXIT } from "./exit.js";
import { listenForInterrupt } from "./interrupt.js";
import { MessagePrinter } from "./message-printer.js";
import { createOutput, type Format, type Output } from "./output.js";
import { checkedAddress, shownCredentials } from "./peer.js";

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

export interface LookOptions extends CredentialOptions, IdentityCredentialOptions {}

const NOTHING_THERE =
  "A gateway shows its messages only to callers of its own machine, or to those it was told of; and the inspector must be on.";

/** Reaches a gateway for as long as the command runs. Ends without a complaint on Ctrl-C, or after `forMs`. */
export async function look(
  url: string,
  options: LookOptions,
  run: (host: InspectedHost) => Promise<void>,
  forMs?: number,
): Promise<void> {
  const address = checkedAddress(url);
  const credentials = await shownCredentials(options);
  const link = poolLink({ tls: credentials.tls });
  const interrupt = listenForInterrupt();
  const limited = forMs === undefined ? undefined : limitedSignal(interrupt.signal, forMs);
  const signal = limited?.signal ?? interrupt.signal;
  try {
    await run({ link, url: address, headers: credentialHeaders(credentials), cancel: cancelFrom(signal) });
  } catch (thrown) {
    if (signal.aborted) return;
    if (thrown instanceof AgentError && thrown.code === "not_found")
      throw new CliError(EXIT.failure, `${address} shows no messages`, { code: "not_found", hint: NOTHING_THERE });
    throw thrown;
  } finally {
    limited?.stop();
    interrupt.stop();
    void link.close();
  }
}

/** How long a call that ended is waited for: the last bytes of its response pass a moment later. */
const SETTLE_MS = 100;
/** Calls that are waited for at a time; the oldest is shown as it is. */
const MOST_HELD = 10_000;

interface Held {
  sighting: CapturedMessage;
  timer: NodeJS.Timeout | undefined;
}

/**
 * Puts together what belongs to one exchange: a call that came in, and the calls that were made to answer it. Each is shown
 * once, when it is over.
 */
class ExchangeGroups {
  readonly #show: (group: readonly CapturedMessage[]) => Promise<void>;
  readonly #held = new Map<string, Held>();
  /** Shown already; what changes later was the end of a response. */
  readonly #shown = new Set<string>();
  #showing: Promise<void> = Promise.resolve();

  constructor(show: (group: readonly CapturedMessage[]) => Promise<void>) {
    this.#show = show;
  }

  /** All at once, in the order of their beginnings. */
  static of(sightings: readonly CapturedMessage[]): readonly (readonly CapturedMessage[])[] {
    const spans = new Set(sightings.filter(({ direction }) => direction === "in").map(({ span }) => span));
    const isMade = ({ direction, parentSpan }: CapturedMessage): boolean => direction === "out" && spans.has(parentSpan ?? "");
    return sightings
      .filter((sighting) => !isMade(sighting))
      .map((first) => [first, ...sightings.filter((each) => isMade(each) && each.parentSpan === first.span && each !== first)]);
  }

  see(sighting: CapturedMessage): void {
    const { id, status } = sighting;
    if (this.#shown.has(id)) return;
    const held = this.#held.get(id) ?? { sighting, timer: undefined };
    held.sighting = sighting;
    this.#held.set(id, held);
    if (status !== "open" && held.timer === undefined) held.timer = setTimeout(() => this.#settle(id), SETTLE_MS);
    if (this.#held.size > MOST_HELD) this.#showOldest();
  }

  /** Shows what has ended and was still waited for. */
  async end(): Promise<void> {
    const over = [...this.#held.values()].filter(({ sighting }) => sighting.status !== "open").map(({ sighting }) => sighting);
    for (const { timer } of this.#held.values()) clearTimeout(timer);
    this.#held.clear();
    for (const group of ExchangeGroups.of(over)) this.#queue(group);
    await this.#showing;
  }

  #settle(id: string): void {
    const first = this.#held.get(id)?.sighting;
    if (first === undefined || this.#waitsForCaller(first)) return;
    const made = [...this.#held.values()].map(({ sighting }) => sighting).filter((each) => isMadeFor(each, first));
    this.#queue([first, ...made.filter(({ status }) => status !== "open")]);
  }

  /** A call that was made for one that is still under way is shown together with it. */
  #waitsForCaller({ direction, parentSpan }: CapturedMessage): boolean {
    if (direction === "in" || parentSpan === undefined) return false;
    return [...this.#held.values()].some(({ sighting }) => sighting.direction === "in" && sighting.span === parentSpan);
  }

  #showOldest(): void {
    const [oldest] = this.#held.values();
    if (oldest !== undefined) this.#queue([oldest.sighting]);
  }

  #queue(group: readonly CapturedMessage[]): void {
    for (const { id } of group) {
      clearTimeout(this.#held.get(id)?.timer);
      this.#held.delete(id);
      this.#shown.add(id);
    }
    while (this.#shown.size > MOST_HELD) this.#shown.delete(this.#shown.values().next().value ?? "");
    // One after the other, however slow the terminal is.
    this.#showing = this.#showing.then(() => this.#show(group)).catch(() => undefined);
  }
}

function isMadeFor(sighting: CapturedMessage, caller: CapturedMessage): boolean {
  return sighting !== caller && caller.direction === "in" && sighting.direction === "out" && sighting.parentSpan === caller.span;
}
