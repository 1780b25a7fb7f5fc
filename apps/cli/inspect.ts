import { AgentError } from "../../src/index.js";
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
import { checkedAddress, peerCredentials } from "./peer.js";

export interface InspectFilterOptions {
  readonly agent?: string;
  readonly trace?: string;
  readonly protocol?: string;
  readonly direction?: "in" | "out";
  readonly failed?: boolean;
  readonly text?: string;
}

interface InspectOptions extends HostOptions, InspectFilterOptions {
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
  await withHost(url, options, (host) =>
    options.once === true ? showOnce(host, options, output) : showLive(host, options, output),
  );
}

/** The oldest first. */
async function showOnce(host: InspectedHost, options: InspectOptions, output: Output): Promise<void> {
  const summaries = await readMessages(host, filterOf(options), options.last);
  const found: CapturedMessage[] = [];
  for (const { id } of summaries.toReversed()) {
    const captured = await readMessage(host, id);
    if (captured !== undefined) found.push(captured);
  }
  found.sort((a, b) => a.at - b.at);
  const shown = groupPrinter(host, options, output);
  for (const group of ExchangeGroups.of(found)) await shown(group);
}

async function showLive(host: InspectedHost, options: InspectOptions, output: Output): Promise<void> {
  const shown = groupPrinter(host, options, output);
  const groups = new ExchangeGroups(shown);
  try {
    for await (const item of followFeed(host, filterOf(options))) {
      if (item.kind === "message") groups.add(item.message);
      else if (item.kind === "gap")
        output.say(output.colors.yellow(`at least ${item.missed} messages were dropped before they were read`));
      else if (item.kind === "cut") output.say(output.colors.dim(`${item.error.message}; reconnecting`));
      else if (options.output === "text") output.say(output.colors.dim(`Following ${host.url}. Press Ctrl-C to stop.`));
    }
  } finally {
    await groups.end();
  }
}

function groupPrinter(
  host: InspectedHost,
  options: InspectOptions,
  output: Output,
): (group: readonly CapturedMessage[]) => Promise<void> {
  const printer = new MessagePrinter(output, options.bytes === true);
  const drawn = new Set<string>();
  return async (group) => {
    if (output.format === "json") {
      for (const captured of group) await output.line(captured);
      return;
    }
    const [first] = group;
    if (first === undefined) return;
    if (options.tree !== true) return printer.group(group);
    // With --once every trace is drawn once; live it is drawn again when more of it has ended.
    if (options.once === true && drawn.has(first.traceId)) return;
    drawn.add(first.traceId);
    await printer.tree(await readTrace(host, first.traceId));
  };
}

export interface HostOptions extends CredentialOptions, IdentityCredentialOptions {}

const NOT_FOUND_HINT =
  "Messages are on the gateway's admin listener, whose address is printed at start; inspect must be enabled.";
const TOKEN_HINT = "Set KOINE_TOKEN to the admin token, which is printed at start or configured as admin.token.";

/** Runs with a gateway until Ctrl-C, or for `forMs`; neither is an error. */
export async function withHost(
  url: string,
  options: HostOptions,
  run: (host: InspectedHost) => Promise<void>,
  forMs?: number,
): Promise<void> {
  const address = checkedAddress(url);
  const credentials = await peerCredentials(options);
  const link = poolLink({ tls: credentials.tls });
  const interrupt = listenForInterrupt();
  const limited = forMs === undefined ? undefined : limitedSignal(interrupt.signal, forMs);
  const signal = limited?.signal ?? interrupt.signal;
  try {
    await run({ link, url: address, headers: credentialHeaders(credentials), cancel: cancelFrom(signal) });
  } catch (thrown) {
    if (signal.aborted) return;
    if (thrown instanceof AgentError && thrown.code === "not_found")
      throw new CliError(EXIT.failure, `${address} shows no messages`, { code: "not_found", hint: NOT_FOUND_HINT });
    if (thrown instanceof AgentError && thrown.code === "unauthenticated")
      throw new CliError(EXIT.auth, thrown.message, { code: thrown.code, hint: TOKEN_HINT });
    throw thrown;
  } finally {
    limited?.stop();
    interrupt.stop();
    void link.close();
  }
}

/** Delay before an ended call is shown: the last bytes of its response are captured a moment later. */
const SETTLE_MS = 100;
/** Limit of calls held at a time; beyond it the oldest is shown as it is. */
const MAX_HELD = 10_000;

interface Held {
  captured: CapturedMessage;
  timer: NodeJS.Timeout | undefined;
}

/** Groups an inbound call with the outbound calls made for it. Each group is shown once, when its call has ended. */
class ExchangeGroups {
  readonly #show: (group: readonly CapturedMessage[]) => Promise<void>;
  readonly #held = new Map<string, Held>();
  /** Already shown; later updates only complete a response. */
  readonly #shown = new Set<string>();
  #showing: Promise<void> = Promise.resolve();

  constructor(show: (group: readonly CapturedMessage[]) => Promise<void>) {
    this.#show = show;
  }

  /** Groups a complete list, in order of start. */
  static of(messages: readonly CapturedMessage[]): readonly (readonly CapturedMessage[])[] {
    const spans = new Set(messages.filter(({ direction }) => direction === "in").map(({ span }) => span));
    const isOutboundCall = ({ direction, parentSpan }: CapturedMessage): boolean =>
      direction === "out" && spans.has(parentSpan ?? "");
    return messages
      .filter((captured) => !isOutboundCall(captured))
      .map((first) => [
        first,
        ...messages.filter((each) => isOutboundCall(each) && each.parentSpan === first.span && each !== first),
      ]);
  }

  add(captured: CapturedMessage): void {
    const { id, status } = captured;
    if (this.#shown.has(id)) return;
    const held = this.#held.get(id) ?? { captured, timer: undefined };
    held.captured = captured;
    this.#held.set(id, held);
    if (status !== "open" && held.timer === undefined) held.timer = setTimeout(() => this.#settle(id), SETTLE_MS);
    if (this.#held.size > MAX_HELD) this.#showOldest();
  }

  /** Shows the ended calls that are still held. */
  async end(): Promise<void> {
    const over = [...this.#held.values()].filter(({ captured }) => captured.status !== "open").map(({ captured }) => captured);
    for (const { timer } of this.#held.values()) clearTimeout(timer);
    this.#held.clear();
    for (const group of ExchangeGroups.of(over)) this.#queue(group);
    await this.#showing;
  }

  #settle(id: string): void {
    const first = this.#held.get(id)?.captured;
    if (first === undefined || this.#waitsForCaller(first)) return;
    const made = [...this.#held.values()].map(({ captured }) => captured).filter((each) => isCalledBy(each, first));
    this.#queue([first, ...made.filter(({ status }) => status !== "open")]);
  }

  /** An outbound call is shown together with the inbound call it was made for. */
  #waitsForCaller({ direction, parentSpan }: CapturedMessage): boolean {
    if (direction === "in" || parentSpan === undefined) return false;
    return [...this.#held.values()].some(({ captured }) => captured.direction === "in" && captured.span === parentSpan);
  }

  #showOldest(): void {
    const [oldest] = this.#held.values();
    if (oldest !== undefined) this.#queue([oldest.captured]);
  }

  #queue(group: readonly CapturedMessage[]): void {
    for (const { id } of group) {
      clearTimeout(this.#held.get(id)?.timer);
      this.#held.delete(id);
      this.#shown.add(id);
    }
    while (this.#shown.size > MAX_HELD) this.#shown.delete(this.#shown.values().next().value ?? "");
    // In sequence, however slow the terminal is.
    this.#showing = this.#showing.then(() => this.#show(group)).catch(() => undefined);
  }
}

function isCalledBy(captured: CapturedMessage, caller: CapturedMessage): boolean {
  return captured !== caller && caller.direction === "in" && captured.direction === "out" && captured.parentSpan === caller.span;
}
