import { AgentError, connect, type EventOf, isTerminal, type State } from "../../src/index.js";
import type { NodeStatus } from "../up/index.js";
import { addressOf } from "./addresses.js";
import type { Demo } from "./demo.js";
import { mustHold } from "./must-hold.js";
import { SCENES, type Scene } from "./scenes.js";

/** Something that must hold in a demo that runs. Says what was seen, or throws what is wrong. */
export interface Check {
  readonly what: string;
  check(demo: Demo): Promise<string>;
}

/** What the words of the scenario ask for. */
const EXPECTED: { readonly [id: string]: string } = {
  pilots: "A2A",
  berths: "A2A",
  cranes: "ACP",
  papers: "ACP",
  rules: "Agora",
  customs: "ANP",
};

/** In this order: the last ones kill agents. */
export const CHECKS: readonly Check[] = [
  { what: "the router decides as the scenario asks, with evidence", check: decisions },
  { what: "a protocol that is not registered is shown as missing", check: missing },
  { what: "nothing has failed so far", check: noFailures },
  { what: "a chain of agents has one trace", check: oneTrace },
  { what: "the page and what it asks for answer", check: page },
  { what: "the page acts only for who has its token", check: closedPage },
  { what: "a killed agent comes back and answers", check: comesBack },
  { what: "a stream whose agent is killed ends in words, or goes on", check: brokenStream },
];

async function decisions(demo: Demo): Promise<string> {
  for (const { module_id: id, selected_protocol: chosen, evidence_spans: evidence } of demo.decisions) {
    mustHold(chosen === EXPECTED[id], `${id} got ${chosen ?? "nothing"}, and its words ask for ${EXPECTED[id]}`);
    mustHold(evidence.length > 0, `nothing shows why ${id} got ${chosen}`);
  }
  return demo.decisions.map(({ module_id: id, selected_protocol: chosen }) => `${id} ${chosen}`).join(", ");
}

async function missing({ network, gateway, plan }: Demo): Promise<string> {
  const unspoken = plan.network.nodes.filter(({ spokenBy }) => spokenBy === undefined).map(({ id }) => id);
  const shown = gateway.console.state().nodes.filter(({ kind }) => kind === "missing");
  mustHold(shown.map(({ id }) => id).join() === unspoken.join(), `missing are ${unspoken.join(", ")}, and not all are shown`);
  for (const { id, pid } of network.nodes())
    mustHold(!unspoken.includes(id) || pid === undefined, `something was started as ${id}`);
  return shown.length === 0 ? "every protocol is registered" : shown.map(({ id, note }) => `${id}: ${note}`).join("; ");
}

async function noFailures({ gateway }: Demo): Promise<string> {
  const sends = gateway.console.sightings.list({}, MANY).filter(({ operation }) => operation === "send");
  const failed = sends.filter(({ status }) => status === "failed");
  mustHold(failed.length === 0, failed.map(({ agent, error }) => `${agent}: ${error?.message ?? "?"}`).join("; "));
  return `${sends.length} calls seen`;
}

const MANY = 10_000;

async function oneTrace({ gateway }: Demo): Promise<string> {
  const { sightings } = gateway.console;
  const asked = sightings.list({ agent: "rules", direction: "out" }, MANY);
  const chain = asked.map(({ traceId }) => sightings.trace(traceId)).find((each) => each.some(({ agent }) => agent === "pilots"));
  mustHold(chain !== undefined, "no question of the pilots to the rules is in the trace of the message it was asked for");
  return `${chain?.length} calls in trace ${chain?.[0]?.traceId}`;
}

async function page({ gateway }: Demo): Promise<string> {
  const html = await fetch(`${gateway.url}/koine/`);
  mustHold(html.ok && (await html.text()).includes("<html"), `the page answers ${html.status}`);
  const answer = await fetch(`${gateway.url}/koine/api/state`);
  const state = (await answer.json()) as { readonly nodes?: readonly unknown[]; readonly decisions?: readonly unknown[] };
  mustHold((state.nodes?.length ?? 0) > Object.keys(EXPECTED).length, "the page has no map");
  mustHold(state.decisions?.length === Object.keys(EXPECTED).length, "the page has no decisions");
  return `${state.nodes?.length} nodes on the map`;
}

async function closedPage({ gateway, network }: Demo): Promise<string> {
  const { status } = await killByPage(gateway.url, "berths", "not the token");
  mustHold(status === 401, `a kill without the token is answered ${status}`);
  mustHold(nodeOf(network.nodes(), "berths").restarts === 0, "and it was done");
  return "a kill without it is refused";
}

async function comesBack(demo: Demo): Promise<string> {
  const { gateway, network, traffic } = demo;
  const before = nodeOf(network.nodes(), "berths");
  const token = new URL(gateway.pageUrl ?? "").hash.replace("#token=", "");
  const { status } = await killByPage(gateway.url, "berths", token);
  mustHold(status < 300, `the page's kill is answered ${status}`);
  const after = await until(demo, () => {
    const now = nodeOf(network.nodes(), "berths");
    return now.state === "ready" && now.pid !== before.pid ? now : undefined;
  });
  const { error } = await traffic.play(sceneOf("berth"));
  if (error !== undefined) throw error;
  return `process ${before.pid} was killed, ${after.pid} has answered`;
}

/** The agent dies in the middle of its answer. Whoever listens must hear that, and not take half an answer for a whole one. */
async function brokenStream(demo: Demo): Promise<string> {
  const scene = sceneOf("arrival");
  const peer = await connect(addressOf(demo.gateway, scene.agent, scene.way), { as: scene.visitor, pin: scene.way });
  let isKilled = false;
  let state: State | undefined;
  try {
    for await (const event of peer.stream('Bring "Aurora" in')) {
      state = stateOf(event) ?? state;
      if (isKilled || event.kind !== "artifact") continue;
      isKilled = true;
      demo.network.kill(scene.agent);
    }
  } catch (thrown) {
    return `said so: ${AgentError.from(thrown).code}`;
  } finally {
    await peer.close();
  }
  mustHold(isKilled, "the stream had no pieces");
  mustHold(state !== undefined && isTerminal(state), `the stream ended and nobody said how: ${state ?? "nothing"}`);
  return state === "completed" ? "went on to its end" : `said so: the task is ${state}`;
}

function stateOf(event: EventOf<"send">): State | undefined {
  if (event.kind === "task") return event.task.status.state;
  return event.kind === "status" ? event.status.state : undefined;
}

function killByPage(url: string, node: string, token: string): Promise<Response> {
  const headers = { origin: url, "x-koine-token": token };
  return fetch(`${url}/koine/api/nodes/${node}/kill`, { method: "POST", headers });
}

function nodeOf(nodes: readonly NodeStatus[], id: string): NodeStatus {
  const found = nodes.find((node) => node.id === id);
  if (found === undefined) throw new AgentError("not_found", `there is no ${id}`);
  return found;
}

function sceneOf(id: string): Scene {
  const found = SCENES.find((scene) => scene.id === id);
  if (found === undefined) throw new AgentError("not_found", `there is no scene ${id}`);
  return found;
}

/** What is looked for, as soon as it is there. Whoever called bounds the wait. */
function until<T>({ network }: Demo, look: () => T | undefined): Promise<T> {
  return new Promise((resolve) => {
    const tryIt = (): void => {
      const found = look();
      if (found === undefined) return;
      off();
      resolve(found);
    };
    const off = network.onChange(tryIt);
    tryIt();
  });
}
