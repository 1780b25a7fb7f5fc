import type { BreakerState, LinkState, NetworkState, QueueState } from "../console.js";
import { byId, type Child, fill, h } from "./dom.js";
import { clock, count, duration, quantile, spaced } from "./format.js";
import { mark, signOf } from "./marks.js";
import { protocolChip } from "./protocol-hues.js";
import { sparkline } from "./sparkline.js";

/** Circuit breakers, queues, latencies and counters; each part is redrawn only when it changed. */
export class HealthView {
  #shown: Partial<NetworkState> = {};

  show(state: NetworkState): void {
    const before = this.#shown;
    this.#shown = state;
    if (before.counters !== state.counters) fill(byId("counters"), ...Object.entries(state.counters).map(counter));
    if (before.breakers !== state.breakers) part("breakers", state.breakers.map(breaker), "No circuit breakers.");
    if (before.queues !== state.queues) part("queues", state.queues.map(queue), "No queues.");
    if (before.links !== state.links)
      part("latencies", state.links.filter((link) => link.latencies.length > 0).map(latency), "No measurements yet.");
  }
}

function part(id: string, rows: readonly Child[], empty: string): void {
  fill(byId(id), ...(rows.length === 0 ? [h("li", { class: "empty" }, empty)] : rows));
}

function counter([name, value]: readonly [string, number]): HTMLElement {
  return h(
    "div",
    { class: "tile" },
    h("span", { class: "tile-value" }, count(value)),
    h("span", { class: "tile-name" }, spaced(name)),
  );
}

function breaker({ destination, state, since, because }: BreakerState): HTMLElement {
  return h(
    "li",
    { class: "breaker" },
    h("strong", {}, destination),
    h("span", { class: `breaker-state tone-${signOf(state)[1]}` }, mark(state), state),
    h("span", { class: "quiet" }, `since ${clock(since, false)}${because === "" ? "" : ` · ${because}`}`),
  );
}

function queue({ name, depth, limit, history }: QueueState): HTMLElement {
  const meter = h("meter", {
    min: 0,
    max: limit,
    value: depth,
    high: limit * 0.8,
    optimum: 0,
    "aria-label": `${name}: ${depth} of ${limit}`,
  });
  return h(
    "li",
    { class: "queue" },
    h("div", {}, h("strong", {}, name), h("span", { class: "figure" }, `${count(depth)} of ${count(limit)}`)),
    meter,
    sparkline(history, `${name}: recent depth`),
  );
}

function latency(link: LinkState): HTMLElement {
  const [p50, p95] = [quantile(link.latencies, 0.5) ?? 0, quantile(link.latencies, 0.95) ?? 0];
  return h(
    "li",
    { class: "latency" },
    h(
      "div",
      {},
      h("strong", {}, `${link.from} → ${link.to}`),
      h("span", { class: "chips" }, protocolChip(link.fromProtocol), link.bridged && protocolChip(link.toProtocol)),
    ),
    sparkline(link.latencies, `latency from ${link.from} to ${link.to}`),
    h("span", { class: "figure" }, `p50 ${duration(p50)}\np95 ${duration(p95)}`),
  );
}
