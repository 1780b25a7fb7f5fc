import { once } from "node:events";
import pc from "picocolors";
import type { Json } from "../../src/index.js";
import type { CapturedMessage, WireBytes } from "../../src/public/inspect.js";
import type { Output } from "./output.js";
import { oneLine, printable } from "./printable.js";

const TEXT_CHARACTERS = 100;
const NAME_CHARACTERS = 60;
const REASON_CHARACTERS = 300;

/** Prints exchanges as text. Content from the wire is sanitized before colours are added. */
export class MessagePrinter {
  readonly #output: Output;
  readonly #bytes: boolean;
  readonly #colors: ReturnType<typeof pc.createColors>;

  constructor(output: Output, bytes: boolean) {
    this.#output = output;
    this.#bytes = bytes;
    this.#colors = pc.createColors(output.stdout.isTTY === true && pc.isColorSupported);
  }

  /** One exchange: the inbound call, then the outbound calls made for it. */
  async group([first, ...made]: readonly CapturedMessage[]): Promise<void> {
    if (first === undefined) return;
    const { dim, bold } = this.#colors;
    const lines = [
      `${dim(timeOf(first.at))}  ${bold(oneLine(first.agent, NAME_CHARACTERS))}  ${summaryOf(first)}  ${this.#outcome(first)}`,
      ...this.#details(first),
      ...made.flatMap((captured) => this.#details(captured)),
      `  ${dim(`trace ${first.traceId}`)}`,
      "",
    ];
    await this.#write(lines);
  }

  /** A trace as a tree of calls. */
  async tree(messages: readonly CapturedMessage[]): Promise<void> {
    const [first] = messages;
    if (first === undefined) return;
    const spans = new Set(messages.map(({ span }) => span));
    const roots = messages.filter(({ parentSpan }) => parentSpan === undefined || !spans.has(parentSpan));
    const { bold } = this.#colors;
    await this.#write([bold(`trace ${first.traceId}`), ...this.#branches(roots, messages, "", new Set()), ""]);
  }

  #branches(
    siblings: readonly CapturedMessage[],
    all: readonly CapturedMessage[],
    indent: string,
    drawn: Set<string>,
  ): readonly string[] {
    const { dim } = this.#colors;
    return siblings.flatMap((captured, index) => {
      // Spans come from the wire and may form a cycle: each is drawn once.
      if (drawn.has(captured.id)) return [];
      drawn.add(captured.id);
      const last = index === siblings.length - 1;
      const children = all.filter(({ parentSpan }) => parentSpan === captured.span);
      const line = `${this.#parties(captured)}  ${viaOf(captured)}  ${summaryOf(captured)}  ${this.#outcome(captured)}`;
      return [
        `${dim(indent + (last ? "└─ " : "├─ "))}${line}`,
        ...this.#branches(children, all, indent + (last ? "   " : "│  "), drawn),
      ];
    });
  }

  #details(captured: CapturedMessage): readonly string[] {
    const { dim, yellow } = this.#colors;
    const { request, response, losses } = captured;
    const sizes = [request, response].map((wire) => (wire === undefined ? "–" : `${wire.bytes} B`)).join(" → ");
    const lost = losses.map(
      ({ path, reason }) => `    ${yellow("lost")} ${oneLine(path, NAME_CHARACTERS)}: ${oneLine(reason, REASON_CHARACTERS)}`,
    );
    const head = `  ${this.#parties(captured)}  ${viaOf(captured)}  ${dim(sizes)}  ${dim(factsOf(captured))}`;
    const outcome = captured.direction === "out" ? `  ${this.#outcome(captured)}` : "";
    return [head.trimEnd() + outcome, ...lost, ...(this.#bytes ? this.#contents(captured) : [])];
  }

  /** Wire in, envelope, wire out. */
  #contents({ request, envelope, response, answer }: CapturedMessage): readonly string[] {
    return [
      ...this.#wire("request", request),
      ...this.#document("envelope", envelope),
      ...this.#document("answer", answer),
      ...this.#wire("response", response),
    ];
  }

  #wire(title: string, wire: WireBytes | undefined): readonly string[] {
    if (wire === undefined) return [];
    const { cyan, dim } = this.#colors;
    const headers = Object.entries(wire.headers).map(([name, value]) => `      ${dim(printable(`${name}: ${value}`))}`);
    const note = [sealOf(wire), wire.encoding === "base64" ? "base64" : "", wire.cut ? `of ${wire.bytes} bytes, cut` : ""].filter(
      (each) => each !== "",
    );
    const body = wire.body === "" ? [] : printable(wire.body).trimEnd().split("\n");
    return [
      `    ${cyan(title)} ${oneLine(wire.head, REASON_CHARACTERS)}${note.length === 0 ? "" : dim(` (${note.join(", ")})`)}`,
      ...headers,
      ...body.map((line) => `      ${line}`),
    ];
  }

  #document(title: string, document: Json | undefined): readonly string[] {
    if (document === undefined) return [];
    const lines = printable(JSON.stringify(document, undefined, 2)).split("\n");
    return [`    ${this.#colors.cyan(title)}`, ...lines.map((line) => `      ${line}`)];
  }

  #parties({ direction, caller, agent }: CapturedMessage): string {
    const arrow = direction === "in" ? this.#colors.green("in ") : this.#colors.magenta("out");
    return `${arrow} ${oneLine(caller, NAME_CHARACTERS)} → ${oneLine(agent, NAME_CHARACTERS)}`;
  }

  #outcome({ status, at, endedAt, error }: CapturedMessage): string {
    const { green, red, yellow, dim } = this.#colors;
    const time = endedAt === undefined ? "" : dim(` ${endedAt - at} ms`);
    if (status === "ok") return green("ok") + time;
    if (status === "failed")
      return (
        red(`failed${error === undefined ? "" : ` ${error.face === undefined ? "" : `${error.face} `}${error.code}`}`) +
        time +
        why(error?.message)
      );
    return yellow(status) + time;
  }

  async #write(lines: readonly string[]): Promise<void> {
    const { stdout } = this.#output;
    if (!stdout.write(`${lines.join("\n")}\n`)) await once(stdout, "drain");
  }
}

function why(message: string | undefined): string {
  return message === undefined || message === "" ? "" : ` (${oneLine(message, REASON_CHARACTERS)})`;
}

function sealOf({ sealed, signer }: WireBytes): string {
  if (signer === undefined) return "";
  return `${sealed === true ? "ciphertext of" : "signed by"} ${oneLine(signer, REASON_CHARACTERS)}`;
}

function summaryOf({ operation, text }: CapturedMessage): string {
  return text === "" ? operation : `${operation} “${oneLine(text, TEXT_CHARACTERS)}”`;
}

function viaOf({ via: { protocol, version, binding } }: CapturedMessage): string {
  const name = version === "" ? protocol : `${protocol}@${version}`;
  return oneLine(binding === "" ? name : `${name}/${binding}`, NAME_CHARACTERS);
}

function factsOf({ taskId, events }: CapturedMessage): string {
  const state = events.findLast((event) => event.state !== undefined)?.state;
  const count = events.length > 1 ? `${events.length} events` : "";
  const facts = [taskId === undefined ? "" : `task ${taskId.slice(0, 8)}`, count, state ?? ""];
  return oneLine(facts.filter((fact) => fact !== "").join(" · "), NAME_CHARACTERS);
}

/** Local time with milliseconds. */
function timeOf(at: number): string {
  const time = new Date(at);
  const two = (value: number): string => String(value).padStart(2, "0");
  return `${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}.${String(time.getMilliseconds()).padStart(3, "0")}`;
}
