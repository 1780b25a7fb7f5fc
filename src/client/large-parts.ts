import {
  type ArtifactLinks,
  type ArtifactStore,
  artifactExchange,
  createArtifactLinks,
  fetchPart,
  moveLargeParts,
} from "../artifacts/index.js";
import {
  AgentError,
  type Content,
  cancelFrom,
  type Envelope,
  INLINE_CONTENT_BYTES,
  type Part,
  partBytes,
  partsOf,
} from "../envelope/index.js";
import type { ExtraRoute } from "../protocols/front.js";
import type { Host } from "../protocols/protocol.js";
import { type AddressClass, createGuard, pinnedLookup, resolveByDns } from "../security/index.js";
import {
  type AgentFunction,
  type AgentStream,
  Ending,
  type FetchPart,
  isStream,
  Progress,
  Relayed,
  RelayedMessage,
  type Result,
  type UpstreamEvent,
} from "../tasks/index.js";
import { poolLink } from "../transport/node/index.js";

/** Where and when large content is stored instead of sent inline. */
export interface LargePartOptions {
  /** Where the content is stored. */
  readonly store: ArtifactStore;
  /** The signing key of links, at least 32 bytes. Default: generated at start, so links do not outlive the process. */
  readonly secret?: Uint8Array;
  /** Lifetime of a link. Default: one hour. */
  readonly linkMs?: number;
  /** Content of this many bytes or more is sent by reference. Default: 1 MB. */
  readonly inlineBytes?: number;
}

/** The artifacts of a host: the routes that serve them, and how content is moved out of messages. */
export interface LargeParts {
  readonly routes: readonly ExtraRoute[];
  move(content: Content, owner: string): Content | Promise<Content>;
}

export function createLargeParts(options: LargePartOptions, now: () => number, baseUrl: () => string): LargeParts {
  const { store, linkMs, inlineBytes = INLINE_CONTENT_BYTES } = options;
  const secret = options.secret ?? crypto.getRandomValues(new Uint8Array(32));
  const links: ArtifactLinks = createArtifactLinks({ secret, baseUrl, now, linkMs });
  const exchange: ExtraRoute["exchange"] = (request, { admit }) => artifactExchange({ store, links, admit })(request);
  return {
    routes: ["GET", "HEAD"].map((method) => ({ route: { method, path: "/artifacts/*" }, exchange })),
    move(content, owner) {
      const parts = partsOf(content);
      if (sizeOf(parts) < inlineBytes) return content;
      return moveLargeParts(parts, { inlineBytes, owner, artifacts: { store, links } }).then((moved) => moved.content);
    },
  };
}

function sizeOf(parts: readonly Part[]): number {
  let bytes = 0;
  for (const part of parts) bytes += partBytes(part);
  return bytes;
}

/** Wraps an agent so that large parts of its output are sent by reference. */
export function externalizeLargeParts(handle: AgentFunction, { move }: LargeParts): AgentFunction {
  return (message, task) => {
    const output = handle(message, task);
    if (isStream(output)) return externalizeStream(output, (content) => move(content, task.owner));
    return Promise.resolve(output).then((result) => movedResult(result, (content) => move(content, task.owner)));
  };
}

type Move = (content: Content) => Content | Promise<Content>;

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
  return { ...message, content: partsOf(await move(message.content)) };
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

/** Follows links in messages from an address of this class, never to a more private one. */
export function followLinks(from: AddressClass, allow?: readonly string[]): FetchPart {
  const guard = createGuard({ from, allow, resolve: resolveByDns });
  return (part, signal) =>
    fetchPart(part, { guard, linkTo: (target) => poolLink({ lookup: pinnedLookup(target) }), cancel: cancelFrom(signal) });
}

/** Fetches a URL through the same guard, with a limit of bytes and of time. */
export function followUrls(from: AddressClass, allow?: readonly string[]): Host["follow"] {
  const guard = createGuard({ from, allow, resolve: resolveByDns });
  return async (url, { bytes, timeoutMs }) => {
    const cancel = cancelFrom(AbortSignal.timeout(timeoutMs));
    const limits = { artifactBytes: bytes, pieceBytes: bytes };
    const part = await fetchPart(
      { kind: "url", url },
      { guard, linkTo: (target) => poolLink({ lookup: pinnedLookup(target) }), limits, cancel },
    );
    if (part.kind !== "raw") throw new AgentError("internal", "a fetched URL did not yield bytes");
    return part.bytes;
  };
}
