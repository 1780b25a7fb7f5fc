/** The router: which protocol should each part of a system speak, and why? */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { type Decision, parseScenarioText, route } from "koine/router";

const text = await readFile(new URL("scenario.yaml", import.meta.url), "utf8");
const { scenarios, excluded } = await parseScenarioText(text, "scenario.yaml");
assert.deepEqual(excluded, []);

const { decisions } = await route(scenarios);
for (const decision of decisions) print(decision);
assert.deepEqual(chosenIn(decisions), {
  "donor-desk": "A2A",
  stock: "ACP",
  "rare-donors": "ANP",
  recall: "Agora",
  dispatch: null,
});

// The same input gives the same bytes.
assert.equal(JSON.stringify(await route(scenarios)), JSON.stringify({ decisions }));

// A default for undecided modules. `abstained` stays true.
const settled = await route(scenarios, { abstain: { kind: "default", protocol: "A2A" } });
const dispatch = settled.decisions.find(({ module_id: id }) => id === "dispatch");
assert.deepEqual([dispatch?.selected_protocol, dispatch?.abstained], ["A2A", true]);

// One protocol for all modules: only ANP has verified identity and end-to-end secrecy.
const together = await route(scenarios, { scope: "scenario" });
assert.deepEqual(new Set(Object.values(chosenIn(together.decisions))), new Set(["ANP"]));

// Requirements without prose.
const plain = await route({
  id: "reports",
  description: "",
  modules: [{ id: "yearly", passages: [], requires: ["job-lifecycle", "idempotency"] }],
});
assert.deepEqual(chosenIn(plain.decisions), { yearly: "ACP" });

function print({ module_id: id, selected_protocol: protocol, margin, rationale, rejected }: Decision): void {
  console.log(`${id}: ${protocol ?? "undecided"} (${margin.toFixed(2)}). ${rationale}`);
  for (const { protocol: other, because } of rejected) console.log(`  not ${other}: ${because}`);
}

function chosenIn(list: readonly Decision[]): Record<string, string | null> {
  return Object.fromEntries(list.map(({ module_id: id, selected_protocol: protocol }) => [id, protocol]));
}
