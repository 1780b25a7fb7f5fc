import { AgentError, answerText, type EventOf, type RemoteAgent, type Task, textOf } from "../../src/index.js";
import { mustHold } from "./must-hold.js";

/** What a scene has to work with. */
export interface Stage {
  readonly peer: RemoteAgent;
  readonly ship: string;
  readonly signal: AbortSignal;
}

/** Something that a visitor does, in a protocol that is not the agent's own. It throws when the answer is not what it must be. */
export interface Scene {
  readonly id: string;
  readonly visitor: string;
  /** By which way of the gateway the visitor calls. */
  readonly way: string;
  readonly agent: string;
  /** One word for what is tried. */
  readonly tries: "stream" | "answer" | "question" | "job" | "cancel" | "file" | "chain";
  /** What came of it, in a few words. */
  play(stage: Stage): Promise<string>;
}

const PIECES_AT_LEAST = 3;

export const SCENES: readonly Scene[] = [
  { id: "arrival", visitor: "ship", way: "acp@0.2/REST", agent: "pilots", tries: "stream", play: arrival },
  { id: "night", visitor: "coaster", way: "a2a@0.3/JSONRPC", agent: "pilots", tries: "chain", play: night },
  { id: "berth", visitor: "skipper", way: "acp@0.2/REST", agent: "berths", tries: "question", play: berth },
  { id: "berth-known", visitor: "yacht", way: "agora@0.2/HTTP", agent: "berths", tries: "answer", play: berthKnown },
  { id: "unload", visitor: "foreman", way: "a2a@1.0/GRPC", agent: "cranes", tries: "job", play: unload },
  { id: "unload-called-off", visitor: "shipper", way: "a2a@1.0/JSONRPC", agent: "cranes", tries: "cancel", play: calledOff },
  { id: "bill", visitor: "broker", way: "a2a@1.0/HTTP+JSON", agent: "papers", tries: "file", play: bill },
  { id: "ruling", visitor: "master", way: "a2a@1.0/JSONRPC", agent: "rules", tries: "answer", play: ruling },
  { id: "regatta", visitor: "regatta", way: "acp@0.2/REST", agent: "rules", tries: "answer", play: regatta },
  { id: "declaration", visitor: "shipping-line", way: "a2a@1.0/JSONRPC", agent: "customs", tries: "answer", play: declaration },
];

async function arrival({ peer, ship, signal }: Stage): Promise<string> {
  let pieces = 0;
  let text = "";
  for await (const event of peer.stream(`Bring "${ship}" in`, { signal })) {
    const said = saidBy(event);
    if (said !== "") pieces++;
    text += said;
  }
  mustHold(text.includes("she is in"), `the story of ${ship} has no end: ${text}`);
  mustHold(pieces >= PIECES_AT_LEAST, `the story came in ${pieces} pieces, not as it happened`);
  return `${pieces} pieces as they were said`;
}

/** The pilots ask the rules, through the gateway again, before they answer. */
async function night({ peer, ship, signal }: Stage): Promise<string> {
  const answer = await peer.ask(`Bring "${ship}" in by night`, { signal });
  mustHold(answer.includes("edition"), `nobody asked the rules: ${answer}`);
  return "the pilots asked the rules first";
}

async function berth({ peer, ship, signal }: Stage): Promise<string> {
  const asked = taskOf(await peer.send(`A place for "${ship}"`, { signal }));
  mustHold(asked.status.state === "input-required", `${ship} was not asked for her length, but ${asked.status.state}`);
  const answer = await peer.ask("28 metres", { task: asked.id, session: asked.contextId, signal });
  mustHold(answer.includes("inner quay"), `28 metres lie at the inner quay, not: ${answer}`);
  return "asked back, answered, and placed";
}

async function berthKnown({ peer, ship, signal }: Stage): Promise<string> {
  const answer = await peer.ask(`A place for "${ship}", 9 metres`, { signal });
  mustHold(answer.includes("fishing quay"), `9 metres lie at the fishing quay, not: ${answer}`);
  return "placed at once";
}

/** A job that goes on while nobody waits; the cranes ask the berths where the ship lies. */
async function unload({ peer, ship, signal }: Stage): Promise<string> {
  const started = taskOf(await peer.start(`Unload "${ship}", 28 m, 3 containers`, { signal }));
  let last: Task = started;
  for await (const event of peer.subscribe(started.id, { signal })) if (event.kind === "task") last = event.task;
  if (last.status.state !== "completed") last = await peer.getTask(started.id, { signal });
  mustHold(last.status.state === "completed", `the job is ${last.status.state}`);
  mustHold(answerText(last).includes("3 containers"), `3 containers were ordered: ${answerText(last)}`);
  return "followed to the end";
}

async function calledOff({ peer, ship, signal }: Stage): Promise<string> {
  const { id } = taskOf(await peer.start(`Unload "${ship}", 200 containers`, { signal }));
  for await (const event of peer.subscribe(id, { signal }))
    if (event.kind === "status" && event.status.message !== undefined) break;
  const { status } = await peer.cancelTask(id, { signal });
  mustHold(status.state === "canceled", `the job is ${status.state}, and was called off`);
  return "called off after the first containers";
}

async function bill({ peer, ship, signal }: Stage): Promise<string> {
  const { artifacts } = taskOf(await peer.send(`A bill for "${ship}", 3 containers`, { signal }));
  const parts = artifacts.flatMap((artifact) => artifact.parts);
  const file = parts.find((part) => part.name === "bill.csv" || part.mediaType === "text/csv");
  mustHold(file !== undefined, `there is no bill among ${parts.length} parts`);
  return `${artifacts.length} artifacts`;
}

async function ruling({ peer, ship, signal }: Stage): Promise<string> {
  const answer = await peer.ask(`May ${ship} come in by night?`, { signal });
  mustHold(answer.startsWith("Yes") && answer.includes("edition"), `a ruling names its edition: ${answer}`);
  return "by the edition in force";
}

async function regatta({ peer, signal }: Stage): Promise<string> {
  const answer = await peer.ask("May guests follow the regatta?", { signal });
  mustHold(answer.includes("western shore"), `the rules say the western shore: ${answer}`);
  return "by the edition in force";
}

async function declaration({ peer, ship, signal }: Stage): Promise<string> {
  const answer = await peer.ask(`3 containers of ${ship}`, { signal });
  mustHold(answer.startsWith("Declared"), `nothing was declared: ${answer}`);
  return "declared";
}

function saidBy(event: EventOf<"send">): string {
  if (event.kind === "message") return textOf(event.message.content);
  return event.kind === "artifact" ? textOf(event.artifact.parts) : "";
}

function taskOf(event: EventOf<"send">): Task {
  if (event.kind === "task") return event.task;
  throw new AgentError("bad_peer", `a task was expected, and a ${event.kind} came`);
}
