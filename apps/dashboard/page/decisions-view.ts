import type { Decision } from "../../../src/router/index.js";
import { byId, fill, h } from "./dom.js";
import { hueOf, protocolChip } from "./protocol-hues.js";

/** The protocol selected for each module, with evidence, rationale and rejected alternatives. */
export class DecisionsView {
  #shown: readonly Decision[] | undefined;

  show(decisions: readonly Decision[]): void {
    if (decisions === this.#shown) return;
    this.#shown = decisions;
    byId("decisions-empty").hidden = decisions.length > 0;
    fill(byId("decision-list"), ...decisions.map(card));
  }
}

function card(decision: Decision): HTMLElement {
  const { module_id, scenario_id, selected_protocol, evidence_spans, rationale, rejected, abstained } = decision;
  return h(
    "article",
    { class: `decision ${selected_protocol === null ? "" : `hue-${hueOf(selected_protocol)}`}` },
    h("header", {}, h("h3", {}, module_id), h("span", { class: "quiet" }, scenario_id)),
    h(
      "p",
      { class: "decision-choice" },
      selected_protocol === null ? h("strong", { class: "tone-warn" }, "abstained") : h("strong", {}, selected_protocol),
      abstained && selected_protocol !== null && h("span", { class: "badge-bridge" }, "undecided by the text alone"),
    ),
    margin(decision.margin),
    evidence_spans.length > 0 && h("h4", {}, "Evidence"),
    h("ul", { class: "evidence" }, ...evidence_spans.map((span) => h("li", {}, h("q", {}, span)))),
    selected_protocol === null &&
      rationale === "" &&
      h("p", { class: "rationale" }, "The text alone was not sufficient, and no other source was configured."),
    rationale !== "" && h("p", { class: "rationale" }, rationale),
    rejected.length > 0 && h("h4", {}, "Rejected"),
    h(
      "ul",
      { class: "rejected" },
      ...rejected.map(({ protocol, because }) => h("li", {}, protocolChip(protocol), h("span", {}, because))),
    ),
  );
}

function margin(value: number): HTMLElement {
  const share = Math.min(1, Math.max(0, value));
  const bar = h("span", { class: "margin-bar" });
  bar.style.width = `${share * 100}%`;
  return h(
    "div",
    { class: "margin" },
    h("span", { class: "quiet" }, "margin"),
    h("span", { class: "margin-track", "aria-hidden": "true" }, bar),
    h("span", { class: "figure" }, value.toFixed(2)),
  );
}
