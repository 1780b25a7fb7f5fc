import type { CapturedMessageSummary } from "../../../src/public/inspect.js";
import { attribute, h, setText } from "./dom.js";
import { bytes, clock, duration } from "./format.js";
import { mark, signOf } from "./marks.js";
import { hueOf } from "./protocol-hues.js";

const CELLS = ["time", "way", "who", "protocol", "operation", "text", "size", "took", "status"] as const;

/** Creates an empty row, to be reused for any message. */
export function createMessageRow(): HTMLElement {
  const row = h(
    "div",
    { class: "message-row", role: "row" },
    ...CELLS.map((name) => h("span", { class: `cell-${name}`, role: "gridcell" })),
  );
  return row;
}

export function drawMessageRow(row: HTMLElement, message: CapturedMessageSummary): void {
  const drawn = `${message.id} ${message.seq}`;
  if (row.dataset["drawn"] === drawn) return;
  row.dataset["drawn"] = drawn;
  const [time, direction, who, protocol, operation, text, size, took, status] = row.children;
  if (!time || !direction || !who || !protocol || !operation || !text || !size || !took || !status) return;
  const incoming = message.direction === "in";
  setText(time, clock(message.at));
  setText(direction, incoming ? "→ in" : "out →");
  attribute(direction, "class", `cell-way ${incoming ? "is-in" : "is-out"}`);
  setText(
    who,
    incoming ? `${message.caller || "anonymous"} → ${message.agent}` : `${message.caller || "gateway"} → ${message.agent}`,
  );
  setText(protocol, `${message.via.protocol}@${message.via.version}`);
  attribute(protocol, "class", `cell-protocol hue-${hueOf(`${message.via.protocol}@${message.via.version}`)}`);
  attribute(protocol, "title", message.via.binding);
  setText(operation, message.operation);
  setText(text, message.error === undefined ? message.text : failureText(message.error));
  attribute(text, "class", `cell-text${message.error === undefined ? "" : " is-error"}`);
  setText(size, bytes(message.requestBytes + message.responseBytes));
  setText(took, message.endedAt === undefined ? "…" : duration(message.endedAt - message.at));
  drawStatus(status, message);
}

/** Both codes of an error, and its words. */
export function failureText({ face, code, message }: NonNullable<CapturedMessageSummary["error"]>): string {
  return `${face === undefined ? "" : `${face} `}${code}: ${message}`;
}

function drawStatus(cell: Element, { status, losses, eventCount }: CapturedMessageSummary): void {
  const word = statusWord(status);
  cell.replaceChildren(mark(word), h("span", { class: `tone-${signOf(word)[1]}` }, word));
  if (losses.length > 0)
    cell.append(h("span", { class: "badge-loss", title: "fields lost in translation" }, `${losses.length} lost`));
  else if (eventCount > 1) cell.append(h("span", { class: "badge-events", title: "events of the response" }, `${eventCount} ev`));
}

/** `open` means in progress for a message, unlike for a circuit breaker. */
export function statusWord(status: CapturedMessageSummary["status"]): string {
  return status === "open" ? "in progress" : status;
}
