import { AgentError, answerText, type EventOf, type RemoteAgent, type Task, textOf } from "../../src/index.js";
import { ensure } from "./ensure.js";
import { INSURER, SEALED_PROTOCOL, VAULT } from "./sealed-agents.js";

/** The client and parameters of a scene. */
export interface SceneContext {
  readonly peer: RemoteAgent;
  readonly ship: string;
  readonly signal: AbortSignal;
}

/** A call by a visitor over a protocol other than the agent's own. Throws if the answer is wrong. */
export interface Scene {
  readonly id: string;
  readonly visitor: string;
  /** The listener interface that the visitor calls. */
  readonly pin: string;
  readonly agent: string;
  /** The tested kind of exchange. */
  readonly tries: "stream" | "answer" | "question" | "job" | "cancel" | "file" | "chain" | "sealed";
  /** Runs the scene; returns a short result. */
  play(stage: SceneContext): Promise<string>;
}

const MINIMUM_CHUNKS = 3;

export const SCENES: readonly Scene[] = [
  { id: "arrival", visitor: "ship", pin: "acp@0.2/REST", agent: "pilots", tries: "stream", play: arrival },
  { id: "night", visitor: "coaster", pin: "a2a@0.3/JSONRPC", agent: "pilots", tries: "chain", play: night },
  { id: "berth", visitor: "skipper", pin: "acp@0.2/REST", agent: "berths", tries: "question", play: berth },
  { id: "berth-known", visitor: "yacht", pin: "agora@0.2/HTTP", agent: "berths", tries: "answer", play: berthKnown },
  { id: "unload", visitor: "foreman", pin: "a2a@1.0/GRPC", agent: "cranes", tries: "job", play: unload },
  { id: "unload-called-off", visitor: "shipper", pin: "a2a@1.0/JSONRPC", agent: "cranes", tries: "cancel", play: cancelled },
  { id: "bill", visitor: "broker", pin: "a2a@1.0/HTTP+JSON", agent: "papers", tries: "file", play: bill },
  { id: "ruling", visitor: "master", pin: "a2a@1.0/JSONRPC", agent: "rules", tries: "answer", play: ruling },
  { id: "regatta", visitor: "regatta", pin: "acp@0.2/REST", agent: "rules", tries: "answer", play: regatta },
  { id: "declaration", visitor: "shipping-line", pin: "a2a@1.0/JSONRPC", agent: "customs", tries: "answer", play: declaration },
  { id: "policy", visitor: INSURER, pin: SEALED_PROTOCOL, agent: VAULT, tries: "sealed", play: policy },
];

export function sceneOf(id: string): Scene {
  const found = SCENES.find((scene) => scene.id === id);
  if (found === undefined) throw new AgentError("not_found", `Unknown scene ${id}`);
  return found;
}

async function arrival({ peer, ship, signal }: SceneContext): Promise<string> {
  let chunks = 0;
  let text = "";
  for await (const event of peer.stream(`Bring "${ship}" in`, { signal })) {
    const chunk = textOfEvent(event);
    if (chunk !== "") chunks++;
    text += chunk;
  }
  ensure(text.includes("she is in"), `the stream for ${ship} is incomplete: ${text}`);
  ensure(chunks >= MINIMUM_CHUNKS, `the answer came in ${chunks} chunks and was not streamed`);
  return `${chunks} streamed chunks`;
}

/** The pilots agent calls the rules agent through the gateway. */
async function night({ peer, ship, signal }: SceneContext): Promise<string> {
  const answer = await peer.ask(`Bring "${ship}" in by night`, { signal });
  ensure(answer.includes("edition"), `the rules agent was not called: ${answer}`);
  return "pilots called rules";
}

async function berth({ peer, ship, signal }: SceneContext): Promise<string> {
  const pending = taskOf(await peer.send(`A place for "${ship}"`, { signal }));
  ensure(pending.status.state === "input-required", `expected input-required for ${ship}, got ${pending.status.state}`);
  const answer = await peer.ask("28 metres", { task: pending.id, session: pending.contextId, signal });
  ensure(answer.includes("inner quay"), `expected the inner quay for 28 metres, got: ${answer}`);
  return "input requested, answered, berth assigned";
}

async function berthKnown({ peer, ship, signal }: SceneContext): Promise<string> {
  const answer = await peer.ask(`A place for "${ship}", 9 metres`, { signal });
  ensure(answer.includes("fishing quay"), `expected the fishing quay for 9 metres, got: ${answer}`);
  return "berth assigned";
}

/** A background job; the cranes agent calls the berths agent. */
async function unload({ peer, ship, signal }: SceneContext): Promise<string> {
  const started = taskOf(await peer.start(`Unload "${ship}", 28 m, 3 containers`, { signal }));
  let last: Task = started;
  for await (const event of peer.subscribe(started.id, { signal })) if (event.kind === "task") last = event.task;
  if (last.status.state !== "completed") last = await peer.getTask(started.id, { signal });
  ensure(last.status.state === "completed", `the job is ${last.status.state}`);
  ensure(answerText(last).includes("3 containers"), `expected 3 containers, got: ${answerText(last)}`);
  return "job followed to its end";
}

async function cancelled({ peer, ship, signal }: SceneContext): Promise<string> {
  const { id } = taskOf(await peer.start(`Unload "${ship}", 200 containers`, { signal }));
  for await (const event of peer.subscribe(id, { signal }))
    if (event.kind === "status" && event.status.message !== undefined) break;
  const { status } = await peer.cancelTask(id, { signal });
  ensure(status.state === "canceled", `the cancelled job is ${status.state}`);
  return "job cancelled while running";
}

async function bill({ peer, ship, signal }: SceneContext): Promise<string> {
  const { artifacts } = taskOf(await peer.send(`A bill for "${ship}", 3 containers`, { signal }));
  const parts = artifacts.flatMap((artifact) => artifact.parts);
  const file = parts.find((part) => part.name === "bill.csv" || part.mediaType === "text/csv");
  ensure(file !== undefined, `no bill among ${parts.length} parts`);
  return `${artifacts.length} artifacts`;
}

async function ruling({ peer, ship, signal }: SceneContext): Promise<string> {
  const answer = await peer.ask(`May ${ship} come in by night?`, { signal });
  ensure(answer.startsWith("Yes") && answer.includes("edition"), `expected a ruling with its edition, got: ${answer}`);
  return "ruling with its edition";
}

async function regatta({ peer, signal }: SceneContext): Promise<string> {
  const answer = await peer.ask("May guests follow the regatta?", { signal });
  ensure(answer.includes("western shore"), `expected the western shore, got: ${answer}`);
  return "ruling with its edition";
}

async function declaration({ peer, ship, signal }: SceneContext): Promise<string> {
  const answer = await peer.ask(`3 containers of ${ship}`, { signal });
  ensure(answer.startsWith("Declared"), `expected a declaration, got: ${answer}`);
  return "declared";
}

async function policy({ peer, ship, signal }: SceneContext): Promise<string> {
  const answer = await peer.ask(`Policy of ${ship}: insured for 2 million`, { signal });
  ensure(answer.startsWith("Kept"), `expected the policy to be kept, got: ${answer}`);
  return "kept, and read by nobody in between";
}

function textOfEvent(event: EventOf<"send">): string {
  if (event.kind === "message") return textOf(event.message.content);
  return event.kind === "artifact" ? textOf(event.artifact.parts) : "";
}

function taskOf(event: EventOf<"send">): Task {
  if (event.kind === "task") return event.task;
  throw new AgentError("bad_peer", `Expected a task, got a ${event.kind}`);
}
