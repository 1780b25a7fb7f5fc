import type { Interface, Json, JsonObject } from "../../../src/index.js";
import type { NetworkState, NodeState } from "../console.js";
import { api, type Session } from "./api.js";
import { codeView } from "./code-view.js";
import { attribute, byId, fill, h, setText } from "./dom.js";
import { duration } from "./format.js";
import { errorText } from "./inspector-view.js";
import { textIn } from "./text-in.js";

/** Limit of displayed events of one response; the oldest are removed first. */
const EVENTS_SHOWN = 500;

/** Sends a typed message to any node over any of its interfaces and shows the response. */
export class SendView {
  readonly #node = byId("send-node") as HTMLSelectElement; // declared in index.html
  readonly #interface = byId("send-way") as HTMLSelectElement;
  readonly #text = byId("send-text") as HTMLTextAreaElement;
  readonly #stream = byId("send-stream") as HTMLInputElement;
  readonly #button = byId("send-button");
  readonly #stopButton = byId("send-stop");
  readonly #answer = byId("send-answer");
  readonly #openTrace: (traceId: string) => void;
  #nodes = "";
  #interfacesOf = "";
  #stop: AbortController | undefined;

  constructor(parts: { openTrace(traceId: string): void }) {
    this.#openTrace = (traceId) => parts.openTrace(traceId);
    this.#node.addEventListener("input", () => void this.#offerInterfaces());
    byId("send-form").addEventListener("submit", (event) => {
      event.preventDefault();
      void this.#send();
    });
    this.#text.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      void this.#send();
    });
    this.#stopButton.addEventListener("click", () => this.#stop?.abort());
  }

  show({ nodes }: NetworkState, { maySend, holdsToken }: Session): void {
    attribute(byId("send-fields"), "disabled", !maySend);
    const note = byId("send-note");
    note.hidden = maySend;
    setText(
      note,
      holdsToken
        ? "Sending from the page is disabled on this gateway."
        : "Read-only: to send, open the URL with the token that the gateway prints at start.",
    );
    const reachable = nodes.filter((node) => node.kind === "agent" || node.kind === "gateway");
    const key = JSON.stringify(reachable.map(({ id, title }) => [id, title]));
    if (key === this.#nodes) return;
    this.#nodes = key;
    const chosen = this.#node.value;
    fill(this.#node, ...reachable.map(({ id, title }) => h("option", { value: id }, title)));
    if (reachable.some(({ id }) => id === chosen)) this.#node.value = chosen;
    void this.#offerInterfaces();
  }

  /** Preselects a node of the map. */
  prepare({ id }: NodeState): void {
    this.#node.value = id;
    void this.#offerInterfaces();
    this.#text.focus();
  }

  async #offerInterfaces(): Promise<void> {
    const node = this.#node.value;
    if (node === "" || node === this.#interfacesOf) return;
    this.#interfacesOf = node;
    // The interfaces of the node chosen before must not be offered, and a choice among them not be lost.
    fill(this.#interface);
    try {
      const { ways } = await api.ways(node);
      if (node !== this.#node.value) return;
      fill(this.#interface, ...ways.map(interfaceName).map((value) => h("option", { value }, value)));
    } catch (thrown) {
      this.#interfacesOf = "";
      fill(this.#interface, h("option", { value: "" }, errorText(thrown)));
    }
  }

  async #send(): Promise<void> {
    if (this.#stop !== undefined || this.#text.value.trim() === "") return;
    const stop = new AbortController();
    this.#stop = stop;
    attribute(this.#button, "disabled", true);
    this.#stopButton.hidden = false;
    const startedAt = performance.now();
    const log = h("ol", { class: "answer-log" });
    const status = h("p", { class: "answer-status", role: "status" }, "Sent. Waiting for the response…");
    fill(this.#answer, h("p", { class: "said" }, this.#text.value), log, status);
    const message = { node: this.#node.value, way: this.#interface.value, text: this.#text.value, stream: this.#stream.checked };
    try {
      let events = 0;
      for await (const line of api.send(message, stop.signal)) {
        events++;
        this.#take(line, log, performance.now() - startedAt);
      }
      setText(status, `Completed in ${duration(performance.now() - startedAt)} with ${events} event${events === 1 ? "" : "s"}.`);
    } catch (thrown) {
      setText(status, stop.signal.aborted ? "Stopped." : `Failed: ${errorText(thrown)}`);
      attribute(status, "class", `answer-status ${stop.signal.aborted ? "" : "problem"}`);
    }
    this.#stop = undefined;
    attribute(this.#button, "disabled", false);
    this.#stopButton.hidden = true;
  }

  #take(line: JsonObject, log: HTMLElement, afterMs: number): void {
    const { error, event } = line;
    if (isObject(error)) throw new Error(String(error["message"]));
    const traceId = isObject(event) ? event["traceId"] : undefined;
    if (typeof traceId === "string" && this.#answer.querySelector(".trace-link") === null)
      this.#answer.append(
        h("button", { type: "button", class: "trace-link", on: { click: () => this.#openTrace(traceId) } }, "Show trace"),
      );
    log.append(answerLine(event, afterMs));
    if (log.childElementCount > EVENTS_SHOWN) log.firstElementChild?.remove();
    log.lastElementChild?.scrollIntoView({ block: "nearest" });
  }
}

const interfaceName = ({ protocol, version, binding }: Interface): string => `${protocol}@${version}/${binding}`;

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function answerLine(event: Json | undefined, afterMs: number): HTMLElement {
  const facts = isObject(event) ? [event["kind"], event["state"]].filter((each) => typeof each === "string").join(" · ") : "";
  const text = typeof event === "string" ? event : textIn(event);
  return h(
    "li",
    {},
    h("time", {}, `+${duration(afterMs)}`),
    h("span", { class: "event-kind" }, facts === "" ? "event" : facts),
    text !== undefined && h("p", { class: "event-text" }, text),
    h("details", {}, h("summary", {}, "JSON"), codeView(JSON.stringify(event ?? null), "event as JSON")),
  );
}
