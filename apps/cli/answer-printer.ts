import {
  type AgentEvent,
  type Artifact,
  answerOf,
  type EventOf,
  type Maybe,
  type Part,
  type Status,
  type Task,
  textOf,
} from "../../src/index.js";
import { readReference } from "../../src/internal.js";
import { progressText } from "./attached-file.js";
import { eventJson } from "./event-json.js";
import { formatBytes } from "./format-bytes.js";
import type { Output } from "./output.js";
import type { PeerSession } from "./peer.js";
import { oneLine, printable, shellWord } from "./printable.js";
import { problemOf } from "./problem.js";
import { type ProgressLine, startProgress } from "./progress.js";
import { saveChunks, savePart } from "./save-parts.js";

/** Moved text of this size is printed; larger text is saved as a file. */
const TEXT_BYTES = 64 * 1024 * 1024;

export interface PrinterOptions {
  readonly output: Output;
  readonly url: string;
  /** Options that connect a further command in the same way. */
  readonly connectFlags?: string;
  /** The folder for files. */
  readonly save?: string | undefined;
  /** Follows addresses in the answer, under the rules for addresses that come from a peer. */
  readonly peer?: LinkReader;
  readonly progress: ProgressLine;
}

/** The part of a peer that follows addresses. */
export interface LinkReader {
  /** The whole content, in memory. */
  fetch(part: Part): Promise<Part>;
  /** The content in pieces. */
  read(part: UrlPart): AsyncIterable<Uint8Array>;
}

/** Follows them until Ctrl-C. */
export function linkReader({ peer, interrupt }: Pick<PeerSession, "peer" | "interrupt">): LinkReader {
  const { signal } = interrupt;
  return { fetch: (part) => peer.fetch(part, signal), read: (part) => peer.read(part, signal) };
}

type UrlPart = Extract<Part, { readonly kind: "url" }>;
type Answer = EventOf<"send">;

/** Prints answers: text on stdout as it arrives, status on stderr. */
export class AnswerPrinter {
  readonly #options: PrinterOptions;
  #lineOpen = false;
  #artifactId: string | undefined;
  /** Parts printed of each artifact: a peer may repeat the whole task at its end. */
  readonly #shown = new Map<string, number>();

  constructor(options: PrinterOptions) {
    this.#options = options;
  }

  /** One whole answer. */
  async answer(event: Answer): Promise<void> {
    const { output, progress } = this.#options;
    if (output.format === "json") {
      await this.#saveParts(partsOf(event));
      progress.stop();
      return output.document(eventJson(event));
    }
    if (event.kind === "message") return this.#finish(event.message.content);
    if (event.kind === "task") return this.#task(event.task);
    return this.event(event);
  }

  /** One event of many. */
  async event(event: Answer): Promise<void> {
    const { output, progress } = this.#options;
    if (output.format === "json") {
      await this.#saveParts(partsOf(event));
      return output.line(eventJson(event));
    }
    switch (event.kind) {
      case "message":
        return this.#finish(event.message.content);
      case "task":
        progress.show(event.task.status.state, textOf(event.task.status.message?.content ?? []));
        await this.#artifacts(event.task);
        return this.#status(event.task.id, event.task.status);
      case "status":
        return this.#status(event.taskId, event.status);
      case "artifact":
        return this.#chunk(event.artifact.id, namedParts(event.artifact), event.append);
      default:
        return event satisfies never;
    }
  }

  /** Ends an open line. */
  async end(): Promise<void> {
    this.#options.progress.stop();
    if (this.#lineOpen) await this.#options.output.text("\n");
    this.#lineOpen = false;
  }

  async #task(task: Task): Promise<void> {
    await this.#artifacts(task);
    const { state } = task.status;
    if (state !== "completed") return this.#status(task.id, task.status);
    // Only the last message of a completed task is its answer; the reason of a failure goes to stderr.
    if (task.artifacts.length === 0) await this.#finish(answerOf(task));
    else await this.#status(task.id, task.status);
  }

  async #artifacts({ artifacts }: Task): Promise<void> {
    for (const artifact of artifacts)
      await this.#chunk(artifact.id, namedParts(artifact).slice(this.#shown.get(artifact.id) ?? 0), true);
  }

  async #status(taskId: string, status: Status): Promise<void> {
    const { output, progress } = this.#options;
    const { colors } = output;
    const text = textOf(status.message?.content ?? []);
    progress.show(status.state, text);
    switch (status.state) {
      case "submitted":
      case "working":
      case "canceling":
      case "unknown":
        if (text !== "" && output.stderr.isTTY !== true) output.say(`${status.state}: ${oneLine(text, 500)}`);
        return;
      case "completed":
        await this.end();
        // Without artifacts the last message is the answer; beside artifacts it goes to stderr.
        if (this.#artifactId === undefined) await this.#finish(status.message?.content ?? []);
        else if (text !== "") output.say(`completed: ${oneLine(text, 500)}`);
        return;
      case "input-required":
      case "auth-required":
        await this.end();
        await this.#finish(status.message?.content ?? []);
        this.#printHowToAnswer(taskId, status.state);
        return;
      case "failed":
      case "canceled":
      case "rejected":
        await this.end();
        output.say(
          colors.red(`The task ${status.state === "failed" ? "" : "was "}${status.state}${reason(status, text)}`) +
            colors.dim(` (${printable(taskId)})`),
        );
        return;
      default:
        status satisfies never;
    }
  }

  #printHowToAnswer(taskId: string, state: "input-required" | "auth-required"): void {
    const { output, url, connectFlags = "" } = this.#options;
    const command = output.colors.bold(`koine send ${shellWord(url)} --task ${shellWord(taskId)} "…"${connectFlags}`);
    output.say(
      state === "input-required"
        ? `The agent needs input. Answer with: ${command}`
        : `The agent needs authorization. Then continue with: ${command}`,
    );
  }

  /** Complete content, on its own lines. */
  async #finish(parts: readonly Part[]): Promise<void> {
    await this.end();
    for (const part of parts) {
      await this.#part(part);
      await this.end();
    }
  }

  /** A chunk of an artifact: text continues until another artifact begins or this one is replaced. */
  async #chunk(id: string, parts: readonly Part[], append: boolean): Promise<void> {
    const before = append ? (this.#shown.get(id) ?? 0) : 0;
    if (this.#artifactId !== id || (this.#shown.has(id) && !append)) await this.end();
    this.#artifactId = id;
    this.#shown.set(id, before + parts.length);
    for (const part of parts) await this.#part(part);
  }

  async #part(given: Part): Promise<void> {
    const { output, progress, save } = this.#options;
    const part = await this.#followed(given);
    if (part === undefined) return;
    if (part.kind === "raw") {
      progress.stop();
      if (save === undefined)
        output.say(`${describeRaw(part)}: not shown. ${output.colors.bold("--save DIR")} writes it into a folder.`);
      else output.say(`saved ${await savePart(part, save)}`);
      return;
    }
    const text = part.kind === "text" ? part.text : part.kind === "url" ? part.url : JSON.stringify(part.data);
    if (text === "") return;
    // Two writers on one terminal line would overwrite each other.
    if (output.stdout.isTTY === true) progress.stop();
    if (part.kind !== "text" && this.#lineOpen) await output.text("\n");
    await output.text(part.kind === "text" ? text : `${text}\n`);
    this.#lineOpen = part.kind === "text" && !text.endsWith("\n");
  }

  /** With --save, what comes as an address is followed: undefined if it was saved as a file. If that fails it stays an address. */
  async #followed(part: Part): Promise<Maybe<Part>> {
    const { output, save, peer } = this.#options;
    if (part.kind !== "url" || save === undefined || peer === undefined) return part;
    try {
      if (isText(part)) return await peer.fetch(part);
      await this.#saveFile(part, peer.read(part), save);
      return undefined;
    } catch (thrown) {
      output.say(`${oneLine(part.name ?? part.url, 200)} cannot be fetched: ${printable(problemOf(thrown).message)}`);
      return part;
    }
  }

  async #saveFile(part: UrlPart, chunks: AsyncIterable<Uint8Array>, folder: string): Promise<void> {
    const { output, progress } = this.#options;
    progress.stop();
    const saving = startProgress({ stream: output.stderr });
    const name = part.name ?? "a part";
    const bytes = readReference(part)?.bytes;
    const onSaved = (saved: number): void =>
      saving.show("saving", bytes === undefined ? `${formatBytes(saved)} ${name}` : progressText(name, saved, bytes));
    try {
      const path = await saveChunks(part, chunks, { folder, onSaved });
      saving.stop();
      output.say(`saved ${path}`);
    } finally {
      saving.stop();
    }
  }

  /** With -o json, files are saved beside the JSON. */
  async #saveParts(parts: readonly Part[]): Promise<void> {
    const { output, save } = this.#options;
    if (save === undefined) return;
    for (const given of parts) {
      const part = await this.#followed(given);
      if (part?.kind === "raw") output.say(`saved ${await savePart(part, save)}`);
    }
  }
}

/** Text and JSON that were moved out of a message for their size, as far as they fit into memory; everything else is a file. */
function isText(part: UrlPart): boolean {
  const reference = readReference(part);
  return reference !== undefined && reference.kind !== "raw" && reference.bytes <= TEXT_BYTES;
}

function partsOf(event: AgentEvent): readonly Part[] {
  if (event.kind === "message") return event.message.content;
  if (event.kind === "artifact") return namedParts(event.artifact);
  if (event.kind !== "task") return [];
  const { artifacts } = event.task;
  return artifacts.length === 0 ? answerOf(event.task) : artifacts.flatMap(namedParts);
}

/** A part without a name takes that of its artifact. */
function namedParts({ name, parts }: Artifact): readonly Part[] {
  return name === undefined ? parts : parts.map((part) => (part.name === undefined ? { ...part, name } : part));
}

function reason(status: Status, text: string): string {
  const cause = text !== "" ? text : status.state === "failed" ? (status.error?.message ?? "") : "";
  return cause === "" ? "" : `: ${printable(cause)}`;
}

function describeRaw({ name, mediaType, bytes }: Extract<Part, { readonly kind: "raw" }>): string {
  return [oneLine(name ?? "a part", 120), mediaType === undefined ? "" : oneLine(mediaType, 80), formatBytes(bytes.length)]
    .filter((each) => each !== "")
    .join(", ");
}
