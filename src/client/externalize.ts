import { readReference } from "../artifacts/index.js";
import { artifactRefsOf, type Content, type Envelope, type Maybe, type Part, partsOf } from "../envelope/index.js";
import {
  type AgentFunction,
  type AgentStream,
  Ending,
  type IncomingMessage,
  isStream,
  Progress,
  type ReadPart,
  Relayed,
  RelayedMessage,
  type Result,
  type TaskContext,
  type UpstreamEvent,
  whenTask,
} from "../tasks/index.js";
import type { LargeParts } from "./large-parts.js";

/** The upstream of an agent, where it has one: its references are not for callers, who may be unable to reach it. */
export interface ReferenceSource {
  isOf(url: string): boolean;
  readonly read: ReadPart;
}

/** Wraps an agent so that large parts of its output are sent by reference, and what callers refer to is kept with the task. */
export function externalizeLargeParts(handle: AgentFunction, large: LargeParts, upstream: Maybe<ReferenceSource>): AgentFunction {
  return (message, task) => {
    keepReferences(message, task, large);
    const move = mover(task, large, upstream);
    const output = handle(message, task);
    if (isStream(output)) return externalizeStream(output, move);
    return Promise.resolve(output).then((result) => movedResult(result, move));
  };
}

type Move = (content: Content) => Content | Promise<Content>;

/** What a caller uploaded for this message is kept as long as the task. */
function keepReferences({ content }: IncomingMessage, task: TaskContext, large: LargeParts): void {
  for (const part of content) {
    if (part.kind !== "url" || readReference(part) === undefined) continue;
    whenTask(task, (taskId) => {
      // Without an answer of the store it stays as long as an upload does.
      void large
        .ownArtifact(part.url, task.owner)
        .then((id) => (id === undefined ? undefined : large.refer(id, taskId)))
        .catch(() => undefined);
    });
  }
}

function mover(task: TaskContext, large: LargeParts, upstream: Maybe<ReferenceSource>): Move {
  const keep = (ids: readonly string[]): void => {
    if (task.id === undefined)
      for (const id of ids) whenTask(task, (taskId) => void large.refer(id, taskId).catch(() => undefined));
  };
  const move: Move = (content) => {
    const moved = large.moveFor(content, task);
    if (!(moved instanceof Promise)) return moved.content;
    return moved.then((each) => {
      keep(each.ids);
      return each.content;
    });
  };
  if (upstream === undefined) return move;

  async function copied(part: Part): Promise<Part> {
    if (part.kind !== "url" || readReference(part) === undefined || upstream?.isOf(part.url) !== true) return part;
    try {
      const [own, id] = await large.copy(part, upstream.read(part, task.signal), task);
      keep([id]);
      return own;
    } catch {
      // The reference itself is passed on: the caller may be able to follow it.
      return part;
    }
  }
  return async (content) => {
    const parts = partsOf(content);
    const hasReference = parts.some((part) => part.kind === "url");
    return move(hasReference ? await Promise.all(parts.map(copied)) : content);
  };
}

async function* externalizeStream(output: AgentStream, move: Move): AgentStream {
  let step = await output.next();
  try {
    while (!step.done) {
      const { value } = step;
      yield await movedStep(value, move);
      step = await output.next();
    }
    return await movedResult(step.value, move);
  } finally {
    // Stopping the run also ends the agent's generator, so that its cleanup runs.
    if (!step.done) await output.return(undefined);
  }
}

async function movedStep(step: Progress | Relayed | string, move: Move): Promise<Progress | Relayed | string> {
  if (step instanceof Relayed) return movedEvents(step, move);
  if (typeof step === "string" || step.content === undefined) return step;
  return new Progress(step.step, await move(step.content), step.options);
}

async function movedEvents({ events, state }: Relayed, move: Move): Promise<Relayed> {
  return new Relayed(await Promise.all(events.map((event) => movedEvent(event, move))), state);
}

async function movedEvent(event: UpstreamEvent, move: Move): Promise<UpstreamEvent> {
  if (event.kind === "artifact") {
    const parts = partsOf(await move(event.artifact.parts));
    return { ...event, artifact: { ...event.artifact, parts } };
  }
  const { message } = event.status;
  if (message === undefined) return event;
  return { ...event, status: { ...event.status, message: await movedMessage(message, move) } };
}

/** The content of a signed message stays as its author wrote it. */
async function movedMessage(message: Envelope, move: Move): Promise<Envelope> {
  if (message.proofs !== undefined && message.proofs.length > 0) return message;
  const content = partsOf(await move(message.content));
  if (content === message.content) return message;
  return { ...message, content, context: { ...message.context, artifactRefs: artifactRefsOf(content) } };
}

async function movedResult(result: Result, move: Move): Promise<Result> {
  if (result === undefined) return undefined;
  if (result instanceof Ending)
    return result.content === undefined ? result : new Ending(result.state, await move(result.content));
  if (result instanceof Relayed) return movedEvents(result, move);
  if (result instanceof RelayedMessage) {
    const { message, head } = result;
    return new RelayedMessage(await movedMessage(message, move), head);
  }
  return move(result as Content);
}
