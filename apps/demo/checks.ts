import { type AdminAddress, AgentError, connect, type EventOf, isTerminal, type State } from "../../src/index.js";
import type { NodeStatus } from "../up/index.js";
import { addressOf } from "./addresses.js";
import type { Demo } from "./demo.js";
import { ensure } from "./ensure.js";
import { sceneOf } from "./scenes.js";
import { VAULT } from "./sealed-agents.js";

/** A check of the running demo. Returns the observation, or throws the problem. */
export interface Check {
  readonly what: string;
  check(demo: Demo): Promise<string>;
}

/** The expected decisions for the scenario. */
const EXPECTED: { readonly [id: string]: string } = {
  pilots: "A2A",
  berths: "A2A",
  cranes: "ACP",
  papers: "ACP",
  rules: "Agora",
  customs: "ANP",
};

/** In this order: the last two kill agents. */
export const CHECKS: readonly Check[] = [
  { what: "the router selects the expected protocols, with evidence", check: decisions },
  { what: "the customs agent is called in a sealed session, and both sides have proved their DIDs", check: sealed },
  { what: "an unregistered protocol is shown as missing", check: missing },
  { what: "no call has failed", check: noFailures },
  { what: "a chain of agents shares one trace", check: oneTrace },
  { what: "the page and its API respond", check: page },
  { what: "the callers' port shows nothing of the page, and the page nothing without its token", check: closedPage },
  {
    what: "what the insurer seals for the vault passes the gateway as ciphertext, and both are known by their DIDs",
    check: passedOn,
  },
  { what: "a sealed message of which one byte was changed on its way is refused, with the reason", check: flipped },
  { what: "a killed agent is restarted and answers", check: restarted },
  { what: "a stream whose agent is killed ends with an error or resumes", check: brokenStream },
];

async function decisions(demo: Demo): Promise<string> {
  for (const { module_id: id, selected_protocol: chosen, evidence_spans: evidence } of demo.decisions) {
    ensure(chosen === EXPECTED[id], `${id} got ${chosen ?? "no protocol"}, expected ${EXPECTED[id]}`);
    ensure(evidence.length > 0, `no evidence for ${id}: ${chosen}`);
  }
  return demo.decisions.map(({ module_id: id, selected_protocol: chosen }) => `${id} ${chosen}`).join(", ");
}

async function missing({ network, gateway, plan }: Demo): Promise<string> {
  const unsupported = plan.network.nodes.filter(({ spokenBy }) => spokenBy === undefined).map(({ id }) => id);
  const shown = gateway.console.state().nodes.filter(({ kind }) => kind === "missing");
  ensure(shown.map(({ id }) => id).join() === unsupported.join(), `not all missing agents are shown: ${unsupported.join(", ")}`);
  for (const { id, pid } of network.nodes())
    ensure(!unsupported.includes(id) || pid === undefined, `${id} has a process although its protocol is not registered`);
  return shown.length === 0 ? "all protocols are registered" : shown.map(({ id, note }) => `${id}: ${note}`).join("; ");
}

/** What the page shows of a call to customs: ciphertext with the DIDs of both sides. */
async function sealed({ gateway, dids }: Demo): Promise<string> {
  const { messages } = gateway.console;
  const [call] = messages.list({ agent: "customs", direction: "out", text: "containers" }, 1);
  const { request, response, text = "" } = (call && messages.get(call.id)) ?? {};
  ensure(request?.sealed === true && response?.sealed === true, "a call to customs is not sealed");
  ensure(response?.signer === dids.get("customs"), `customs is ${response?.signer ?? "nobody"}, not ${dids.get("customs")}`);
  const wire = Buffer.from(request?.body ?? "", "base64");
  ensure(text !== "" && !wire.includes(text), "the cargo list can be read on the wire");
  return `${request?.bytes} bytes of ciphertext, from ${request?.signer} to ${response?.signer}`;
}

/** What the page shows of a message that the gateway passed on. */
async function passedOn({ gateway, sealed: { vaultDid, insurerDid, registry } }: Demo): Promise<string> {
  const { messages } = gateway.console;
  const captured = (direction: "in" | "out") => {
    const calls = messages.list({ agent: VAULT, direction }, MANY).map(({ id }) => messages.get(id));
    return calls.find((each) => each?.request?.sealed === true);
  };
  const [incoming, outgoing] = [captured("in"), captured("out")];
  ensure(incoming?.request?.signer === insurerDid, `the message to the vault is by ${incoming?.request?.signer ?? "nobody"}`);
  ensure(outgoing?.response?.signer === vaultDid, `the answer of the vault is by ${outgoing?.response?.signer ?? "nobody"}`);
  ensure(outgoing?.response?.sealed === true, "the answer of the vault is not sealed");
  const shown = JSON.stringify([incoming, outgoing]);
  ensure(!/insured for|Kept/.test(shown), "the gateway can read the policy");
  return `${insurerDid} to ${vaultDid}, in ${registry}`;
}

/** By the page, as a person does it. */
async function flipped({ gateway }: Demo): Promise<string> {
  const { url, token } = adminOf(gateway);
  const answer = await actByPage(url, { node: VAULT, action: "flip" }, token);
  const { says = "" } = (await answer.json()) as { readonly says?: string };
  ensure(/refused \((digest|sig|session)\.[a-z-]+\)/.test(says), `expected a refusal with its reason, got: ${says}`);
  return says;
}

async function noFailures({ gateway }: Demo): Promise<string> {
  const sends = gateway.console.messages.list({}, MANY).filter(({ operation }) => operation === "send");
  const failed = sends.filter(({ status }) => status === "failed");
  ensure(failed.length === 0, failed.map(({ agent, error }) => `${agent}: ${error?.message ?? "?"}`).join("; "));
  return `${sends.length} calls`;
}

const MANY = 10_000;

async function oneTrace({ gateway }: Demo): Promise<string> {
  const { messages } = gateway.console;
  const calls = messages.list({ agent: "rules", direction: "out" }, MANY);
  const chain = calls.map(({ traceId }) => messages.trace(traceId)).find((each) => each.some(({ agent }) => agent === "pilots"));
  ensure(chain !== undefined, "no call from pilots to rules is in the trace of its cause");
  return `${chain?.length} calls in trace ${chain?.[0]?.traceId}`;
}

async function page({ gateway }: Demo): Promise<string> {
  const { url, token } = adminOf(gateway);
  const html = await fetch(`${url}/koine/`);
  ensure(html.ok && (await html.text()).includes("<html"), `the page responds with ${html.status}`);
  const answer = await fetch(`${url}/koine/api/state`, { headers: { "x-koine-token": token } });
  const state = (await answer.json()) as { readonly nodes?: readonly unknown[]; readonly decisions?: readonly unknown[] };
  ensure((state.nodes?.length ?? 0) > Object.keys(EXPECTED).length, "the page has no nodes");
  ensure(state.decisions?.length === Object.keys(EXPECTED).length, "the page has no decisions");
  return `${state.nodes?.length} nodes on the map`;
}

async function closedPage({ gateway, network }: Demo): Promise<string> {
  const { url } = adminOf(gateway);
  for (const path of ["/koine/", "/koine/api/messages", "/koine/api/state", "/metrics"]) {
    const { status: onCallersPort } = await fetch(`${gateway.url}${path}`);
    ensure(onCallersPort === 404, `${path} of the callers' port returned ${onCallersPort}`);
  }
  for (const path of ["/koine/api/messages", "/koine/api/state", "/metrics", "/health"]) {
    const { status: withoutToken } = await fetch(`${url}${path}`);
    ensure(withoutToken === 401, `${path} without the token returned ${withoutToken}`);
  }
  const { status } = await killByPage(url, "berths", "not the token");
  ensure(status === 401, `a kill without the token returned ${status}`);
  ensure(nodeOf(network.nodes(), "berths").restarts === 0, "a kill without the token was executed");
  return "reads and a kill without the token are rejected";
}

async function restarted(demo: Demo): Promise<string> {
  const { gateway, network, traffic } = demo;
  const before = nodeOf(network.nodes(), "berths");
  const { url, token } = adminOf(gateway);
  const { status } = await killByPage(url, "berths", token);
  ensure(status < 300, `the page's kill returned ${status}`);
  const after = await until(demo, () => {
    const now = nodeOf(network.nodes(), "berths");
    return now.state === "ready" && now.pid !== before.pid ? now : undefined;
  });
  const { error } = await traffic.play(sceneOf("berth"));
  if (error !== undefined) throw error;
  return `process ${before.pid} was killed, process ${after.pid} answered`;
}

/** The agent dies while it streams. The client must see an error, never a truncated answer as complete. */
async function brokenStream(demo: Demo): Promise<string> {
  const scene = sceneOf("arrival");
  const peer = await connect(addressOf(demo.gateway, scene.agent, scene.pin), { as: scene.visitor, pin: scene.pin });
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
    return `error reported: ${AgentError.from(thrown).code}`;
  } finally {
    await peer.close();
  }
  ensure(isKilled, "the stream had no chunks");
  ensure(state !== undefined && isTerminal(state), `the stream ended without a final state: ${state ?? "none"}`);
  return state === "completed" ? "resumed and completed" : `the task is ${state}`;
}

function stateOf(event: EventOf<"send">): State | undefined {
  if (event.kind === "task") return event.task.status.state;
  return event.kind === "status" ? event.status.state : undefined;
}

function adminOf({ admin }: Demo["gateway"]): AdminAddress {
  if (admin === undefined) throw new AgentError("internal", "The demo has no admin listener");
  return admin;
}

function killByPage(url: string, node: string, token: string): Promise<Response> {
  return actByPage(url, { node, action: "kill" }, token);
}

function actByPage(url: string, { node, action }: { readonly node: string; readonly action: string }, token: string) {
  const headers = { origin: url, "x-koine-token": token };
  return fetch(`${url}/koine/api/nodes/${node}/${action}`, { method: "POST", headers });
}

function nodeOf(nodes: readonly NodeStatus[], id: string): NodeStatus {
  const found = nodes.find((node) => node.id === id);
  if (found === undefined) throw new AgentError("not_found", `Unknown agent ${id}`);
  return found;
}

/** Resolves with the first defined result; the caller bounds the wait. */
function until<T>({ network }: Demo, look: () => T | undefined): Promise<T> {
  return new Promise((resolve) => {
    const check = (): void => {
      const found = look();
      if (found === undefined) return;
      off();
      resolve(found);
    };
    const off = network.onChange(check);
    check();
  });
}
