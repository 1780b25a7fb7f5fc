import type { LinkState, NetworkState, NodeAction, NodeState } from "../console.js";
import { api, type Session } from "./api.js";
import { byId, type Child, fill, h } from "./dom.js";
import { count, duration, quantile, spaced } from "./format.js";
import { errorText } from "./inspector-view.js";
import { mark, signOf } from "./marks.js";
import { protocolChip } from "./protocol-hues.js";
import { sparkline } from "./sparkline.js";

export interface NodeParts {
  session(): Session;
  showMessages(node: NodeState): void;
  sendTo(node: NodeState): void;
  close(): void;
  /** Called when local state changed. */
  redraw(): void;
}

/** Details of one node of the map, and its actions. */
export class NodeView {
  readonly #box = byId("node-details");
  /** Drawn separately: replacing a button while it is pressed would lose the click. */
  readonly #head = this.#box.appendChild(h("div"));
  readonly #actions = this.#box.appendChild(h("div", { class: "node-actions" }));
  readonly #links = this.#box.appendChild(h("div"));
  readonly #drawn = new Map<Element, string>();
  readonly #parts: NodeParts;
  #id = "";
  #problem = "";
  #result = "";
  #acting = "";

  constructor(parts: NodeParts) {
    this.#parts = parts;
  }

  show(state: NetworkState, id: string): void {
    const node = state.nodes.find((each) => each.id === id);
    this.#box.hidden = node === undefined;
    if (node === undefined) return;
    if (id !== this.#id) this.#problem = this.#result = "";
    this.#id = id;
    const links = state.links.filter((link) => link.from === id || link.to === id);
    this.#draw(this.#head, node, () => this.#headOf(node));
    this.#draw(this.#actions, [id, node.actions, this.#parts.session(), this.#problem, this.#result, this.#acting], () =>
      this.#actionsOf(node),
    );
    this.#draw(this.#links, links, () => links.map((link) => linkView(link, id)));
  }

  /** Redraws a part only if its data changed, and restores the focus. */
  #draw(part: Element, shows: unknown, make: () => readonly Child[]): void {
    const key = JSON.stringify(shows);
    if (this.#drawn.get(part) === key) return;
    this.#drawn.set(part, key);
    const focused = part.contains(document.activeElement) ? document.activeElement?.getAttribute("data-act") : undefined;
    fill(part, ...make());
    if (focused) part.querySelector<HTMLElement>(`[data-act="${focused}"]`)?.focus();
  }

  #headOf(node: NodeState): readonly Child[] {
    const word = node.kind === "missing" ? "missing" : node.health;
    const close = {
      type: "button",
      class: "icon",
      "aria-label": "Close details",
      "data-act": "close",
      on: { click: () => this.#parts.close() },
    };
    const facts = [
      ["kind", node.kind],
      ["address", node.url],
      ["process", node.pid],
      ["restarts", node.restarts],
    ] as const;
    return [
      h(
        "header",
        { class: "node-head" },
        h("h2", {}, node.title),
        h("button", close, "✕"),
        h("p", { class: `verdict tone-${signOf(word)[1]}` }, mark(word), ` ${word}`),
        node.note !== "" && h("p", { class: "quiet" }, node.note),
      ),
      h("p", { class: "chips" }, ...node.speaks.map(protocolChip)),
      h(
        "dl",
        { class: "facts" },
        ...facts.flatMap(([name, value]) => (value === undefined ? [] : [h("dt", {}, name), h("dd", {}, String(value))])),
      ),
    ];
  }

  #actionsOf(node: NodeState): readonly Child[] {
    const { mayAct, maySend } = this.#parts.session();
    const button = (act: string, label: string, allowed: boolean, run: () => void): HTMLElement =>
      h(
        "button",
        {
          type: "button",
          class: act === "kill" ? "danger" : undefined,
          "data-act": act,
          disabled: !allowed || this.#acting !== "",
          on: { click: run },
        },
        label,
      );
    return [
      button("messages", "Show messages", true, () => this.#parts.showMessages(node)),
      node.kind !== "missing" && button("send", "Send a message", maySend, () => this.#parts.sendTo(node)),
      ...node.actions.map((action) => button(action, LABELS[action], mayAct, () => void this.#act(node, action))),
      this.#acting !== "" && h("p", { class: "quiet", role: "status" }, `Requested: ${this.#acting}…`),
      node.actions.length > 0 &&
        !mayAct &&
        h("p", { class: "quiet" }, "Read-only: to act, open the URL with the token that the gateway prints at start."),
      this.#result !== "" && h("p", { role: "status" }, this.#result),
      this.#problem !== "" && h("p", { class: "problem", role: "alert" }, this.#problem),
    ];
  }

  async #act(node: NodeState, action: NodeAction): Promise<void> {
    this.#acting = action;
    this.#problem = this.#result = "";
    this.#parts.redraw();
    try {
      this.#result = await api.act(node.id, action);
    } catch (thrown) {
      this.#problem = `Could not ${action}: ${errorText(thrown)}`;
    }
    this.#acting = "";
    this.#parts.redraw();
  }
}

const LABELS: { readonly [action in NodeAction]: string } = {
  kill: "Kill",
  restart: "Restart",
  flip: "Flip one byte on the way",
};

function linkView(link: LinkState, id: string): HTMLElement {
  const outwards = link.from === id;
  const p95 = quantile(link.latencies, 0.95);
  const title = outwards ? `→ ${link.to}` : `← ${link.from}`;
  return h(
    "section",
    { class: "node-link" },
    h("h3", {}, title, link.bridged && h("span", { class: "badge-bridge" }, "bridged")),
    h(
      "p",
      { class: "chips" },
      protocolChip(link.fromProtocol),
      link.bridged ? " ⇢ " : "",
      link.bridged && protocolChip(link.toProtocol),
    ),
    h(
      "p",
      { class: "quiet" },
      `${count(link.messages)} messages, ${count(link.failures)} failed${p95 === undefined ? "" : `, p95 ${duration(p95)}`}`,
    ),
    link.latencies.length > 1 && sparkline(link.latencies, `latency of ${title}`),
    h(
      "ul",
      { class: "features" },
      ...link.features.map(({ name, on, by }) =>
        h(
          "li",
          { class: on ? "is-on" : "is-off", title: by },
          h("span", { "aria-hidden": "true" }, on ? "✓" : "–"),
          ` ${spaced(name)}`,
          h("span", { class: "quiet" }, on ? (by === "" ? "" : ` ${by}`) : " off"),
        ),
      ),
    ),
  );
}
