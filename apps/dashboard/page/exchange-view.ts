import type { Loss } from "../../../src/index.js";
import type { CapturedMessage, WireBytes } from "../../../src/public/inspect.js";
import { bytesView, codeView } from "./code-view.js";
import { h } from "./dom.js";
import { bytes, clock } from "./format.js";
import { protocolChip } from "./protocol-hues.js";
import type { TraceExchange } from "./trace-tree.js";

/** One translation in four steps: bytes in, the envelope, bytes out, and the losses. */
export function exchangeView({ incoming, outgoing }: TraceExchange, direction: "request" | "answer"): HTMLElement {
  const isRequest = direction === "request";
  const [first, last] = isRequest ? [incoming, outgoing] : [outgoing, incoming];
  const wire = (message: CapturedMessage | undefined): WireBytes | undefined =>
    isRequest ? message?.request : message?.response;
  const middle = isRequest ? (incoming?.envelope ?? outgoing?.envelope) : (outgoing?.answer ?? incoming?.answer);
  const losses = uniqueLosses([...(incoming?.losses ?? []), ...(outgoing?.losses ?? [])]);
  return h(
    "div",
    { class: "passage" },
    step("1", "Wire in", first, wireBody(wire(first), "wire in", absence(first, isRequest, "in"))),
    step(
      "2",
      "Envelope",
      undefined,
      middle === undefined
        ? nothing("No envelope: the response was streamed as events, or the operation has none.")
        : codeView(JSON.stringify(middle), "envelope"),
    ),
    step("3", "Wire out", last, wireBody(wire(last), "wire out", absence(last, isRequest, "out"))),
    step("4", "Losses", undefined, lossList(losses)),
  );
}

function step(number: string, title: string, at: CapturedMessage | undefined, body: HTMLElement): HTMLElement {
  return h(
    "section",
    { class: "step" },
    h(
      "header",
      {},
      h("span", { class: "step-number", "aria-hidden": "true" }, number),
      h("h3", {}, title),
      at !== undefined && protocolChip(`${at.via.protocol}@${at.via.version}/${at.via.binding}`),
    ),
    body,
  );
}

function absence(message: CapturedMessage | undefined, isRequest: boolean, side: "in" | "out"): string {
  if (message !== undefined) return "The bytes are no longer stored, or none have arrived yet.";
  const outer = isRequest === (side === "in");
  return outer ? "No inbound request: the call originated here." : "No outbound request: the agent runs in this process.";
}

const nothing = (text: string): HTMLElement => h("p", { class: "empty" }, text);

function wireBody(wire: WireBytes | undefined, label: string, absent: string): HTMLElement {
  if (wire === undefined) return nothing(absent);
  const headers = Object.entries(wire.headers);
  return h(
    "div",
    { class: "wire" },
    h(
      "p",
      { class: "wire-head" },
      wire.head,
      h("span", { class: "quiet" }, ` ${bytes(wire.bytes)}${wire.cut ? ", truncated" : ""}`),
    ),
    sealLine(wire),
    headers.length > 0 &&
      h(
        "details",
        { class: "wire-headers" },
        h("summary", {}, `${headers.length} header fields`),
        h("dl", {}, ...headers.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])),
      ),
    wire.body === ""
      ? nothing("Empty body.")
      : wire.encoding === "base64"
        ? bytesView(wire.body, `${label}, as hex`)
        : codeView(wire.body, label),
  );
}

/** Who signed or sealed the bytes. False: nobody has proved that they are of anyone. */
function sealLine({ sealed, signer }: WireBytes): HTMLElement | false {
  if (signer === undefined) return sealed === true && h("p", { class: "wire-seal" }, "Ciphertext: only its ends can read it");
  const what = sealed === true ? "Ciphertext, signed by" : "Signed by";
  return h("p", { class: "wire-seal" }, `${what} `, h("code", {}, signer));
}

function lossList(losses: readonly Loss[]): HTMLElement {
  if (losses.length === 0)
    return h("p", { class: "no-loss" }, h("strong", {}, "None."), " Every field of the message was translated.");
  return h(
    "ul",
    { class: "losses" },
    ...losses.map(({ protocol, path, valueKind, reason }) =>
      h(
        "li",
        {},
        h("div", {}, protocolChip(protocol), " ", h("code", {}, path), " ", h("span", { class: "quiet" }, valueKind)),
        h("p", {}, reason),
      ),
    ),
  );
}

function uniqueLosses(losses: readonly Loss[]): readonly Loss[] {
  return [...new Map(losses.map((loss) => [`${loss.protocol} ${loss.path} ${loss.reason}`, loss])).values()];
}

/** Events of a streamed response with the time since the start of the call. */
export function eventList(message: CapturedMessage): HTMLElement {
  const lines = message.events.map((event) =>
    h(
      "li",
      {},
      h("time", { title: clock(event.at) }, `+${event.at - message.at} ms`),
      h("span", { class: "event-kind" }, event.state === undefined ? event.kind : `${event.kind} · ${event.state}`),
      h("span", { class: "event-text" }, event.text ?? ""),
    ),
  );
  return h("section", { class: "events-box" }, h("h3", {}, `${lines.length} events`), h("ol", { class: "events" }, ...lines));
}
