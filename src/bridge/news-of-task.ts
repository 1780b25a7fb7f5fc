import { type Artifact, artifactText, type Maybe, type Part, type State, type Task, textPart } from "../envelope/index.js";
import type { UpstreamEvent } from "../tasks/index.js";
import { isEnd } from "./upstream-calls.js";

type ArtifactEvent = Extract<UpstreamEvent, { kind: "artifact" }>;
type StatusEvent = Extract<UpstreamEvent, { kind: "status" }>;

/**
 * Finds what is new after a lost connection. An upstream that cannot resume after an event sends its task as it is, or all events
 * from the first on. Readers have most of it, and in some protocols they cannot replace what they have.
 */
export class NewsOfTask {
  /** Artifacts of the gateway's task that the upstream has not sent completely again. */
  readonly #held: Map<string, Artifact>;
  /** What the upstream has sent again of them so far. */
  readonly #repeated = new Map<string, ArtifactEvent>();
  /** Status messages of the gateway's task that the upstream has not sent again. */
  readonly #messages: (readonly Part[])[];
  #state: State;

  constructor({ artifacts, history, status }: Task) {
    this.#held = new Map(artifacts.map((artifact) => [artifact.id, artifact]));
    const sent = status.message === undefined ? history : [...history, status.message];
    this.#messages = sent.filter(({ role }) => role === "agent").map(({ content }) => content);
    this.#state = status.state;
  }

  /** The events without what the gateway's task has already. */
  in(events: readonly UpstreamEvent[]): readonly UpstreamEvent[] {
    return events.flatMap((event) => (event.kind === "artifact" ? this.#artifact(event) : this.#status(event)));
  }

  #artifact(event: ArtifactEvent): readonly UpstreamEvent[] {
    const { id } = event.artifact;
    const before = this.#held.get(id);
    const repeated = event.append ? this.#repeated.get(id) : undefined;
    if (before === undefined || (event.append && repeated === undefined)) return [event];
    const whole =
      repeated === undefined ? event : { ...event, artifact: joined(repeated.artifact, event.artifact), append: false };
    if (isDescribedAs(before, whole.artifact)) {
      if (restOf(whole.artifact.parts, before.parts)?.length) {
        this.#repeated.set(id, whole);
        return [];
      }
      const added = restOf(before.parts, whole.artifact.parts);
      if (added !== undefined) {
        this.#forget(id);
        return added.length === 0 ? [] : [{ ...whole, artifact: { ...whole.artifact, parts: added }, append: true }];
      }
    }
    this.#forget(id);
    return [{ ...whole, append: false }];
  }

  #forget(id: string): void {
    this.#held.delete(id);
    this.#repeated.delete(id);
  }

  #status(event: StatusEvent): readonly UpstreamEvent[] {
    const { state, message } = event.status;
    // Less than before at the end: the upstream has replaced it.
    if (isEnd(event)) return [...this.#repeated.values(), event];
    const at = message === undefined ? -1 : this.#messages.findIndex((content) => isSame(content, message.content));
    if (at >= 0) this.#messages.splice(at, 1);
    const isKnown = message === undefined ? state === this.#state && event.metadata === undefined : at >= 0;
    if (isKnown) return [];
    this.#state = state;
    return [event];
  }
}

function joined(before: Artifact, more: Artifact): Artifact {
  return { ...before, parts: [...before.parts, ...more.parts] };
}

function isDescribedAs(a: Artifact, b: Artifact): boolean {
  const { parts: _held, ...own } = a;
  const { parts: _sent, ...other } = b;
  return isSame(own, other);
}

/** The parts after these. Undefined if `whole` does not begin with them. */
function restOf(beginning: readonly Part[], whole: readonly Part[]): Maybe<readonly Part[]> {
  if (beginning.every((part, index) => isSame(part, whole[index]))) return whole.slice(beginning.length);
  // A task may have the chunks of a stream as one text.
  if (!isOneText(beginning) || !isOneText(whole)) return undefined;
  const [start, text] = [artifactText(beginning), artifactText(whole)];
  if (!text.startsWith(start)) return undefined;
  return text.length === start.length ? [] : [textPart(text.slice(start.length))];
}

function isOneText(parts: readonly Part[]): boolean {
  return parts.every(
    ({ kind, name, mediaType, metadata }) =>
      kind === "text" && name === undefined && mediaType === undefined && metadata === undefined,
  );
}

/** Deep equality of JSON and bytes; an undefined member equals an absent one. */
function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (a instanceof Uint8Array) return b instanceof Uint8Array && a.length === b.length && a.every((byte, at) => byte === b[at]);
  const left = Object.entries(a).filter(([, value]) => value !== undefined);
  const right = new Map(Object.entries(b).filter(([, value]) => value !== undefined));
  if (Array.isArray(a) !== Array.isArray(b) || left.length !== right.size) return false;
  return left.every(([key, value]) => right.has(key) && isSame(value, right.get(key)));
}
