import type { CapturedMessageSummary } from "../../../src/public/inspect.js";
import { attribute, h, say } from "./dom.js";
import { bytes, clock, duration } from "./format.js";
import { mark, signOf } from "./marks.js";
import { hueOf } from "./protocol-hues.js";

const CELLS = ["time", "way", "who", "protocol", "operation", "text", "size", "took", "status"] as const;

/** An empty row with all its cells, to be drawn again and again. */
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
  const [time, way, who, protocol, operation, text, size, took, status] = row.children;
  if (!time || !way || !who || !protocol || !operation || !text || !size || !took || !status) return;
  const incoming = message.direction === "in";
  say(time, clock(message.at));
  say(way, incoming ? "→ in" : "out →");
  attribute(way, "class", `cell-way ${incoming ? "is-in" : "is-out"}`);
  say(who, incoming ? `${message.caller || "somebody"} → ${message.agent}` : `${message.caller || "gateway"} → ${message.agent}`);
  say(protocol, `${message.via.protocol}@${message.via.version}`);
  attribute(protocol, "class", `cell-protocol hue-${hueOf(`${message.via.protocol}@${message.via.version}`)}`);
  attribute(protocol, "title", message.via.binding);
  say(operation, message.operation);
  say(text, message.error === undefined ? message.text : `${message.error.code}: ${message.error.message}`);
  attribute(text, "class", `cell-text${message.error === undefined ? "" : " is-error"}`);
  say(size, bytes(message.requestBytes + message.responseBytes));
  say(took, message.endedAt === undefined ? "…" : duration(message.endedAt - message.at));
  drawStatus(status, message);
}

function drawStatus(cell: Element, { status, losses, eventCount }: CapturedMessageSummary): void {
  const word = statusWord(status);
  cell.replaceChildren(mark(word), h("span", { class: `tone-${signOf(word)[1]}` }, word));
  if (losses.length > 0)
    cell.append(h("span", { class: "badge-loss", title: "what the wire could not carry" }, `${losses.length} lost`));
  else if (eventCount > 1) cell.append(h("span", { class: "badge-events", title: "events of the answer" }, `${eventCount} ev`));
}

/** `open` of a message means that the answer is not over; of a breaker it means something else. */
export function statusWord(status: CapturedMessageSummary["status"]): string {
  return status === "open" ? "under way" : status;
}
