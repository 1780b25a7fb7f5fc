import { artifactText, type EventOf, isClosing, type Maybe, type Part, textOf } from "../../src/index.js";
import type { Clock } from "../../src/public/policies.js";
import { LIMITS } from "./limits.js";
import { plainLine } from "./plain-text.js";

/** How a step of the work is told: a count that grows, and a sentence. */
export type ReportProgress = (progress: number, message: string) => Promise<void>;

/**
 * Tells what an agent does while it works. Each status is told as it comes; the pieces of a growing answer are put
 * together when they come faster than anybody reads. Silence is broken now and then, because assistants give up on it.
 */
export class Progress {
  readonly #tell: ReportProgress;
  readonly #clock: Clock;
  #count = 0;
  #pieces = "";
  #toldAt: number;
  #ended = false;
  #stopBeat: () => void = () => undefined;

  constructor(tell: ReportProgress, clock: Clock) {
    this.#tell = tell;
    this.#clock = clock;
    this.#toldAt = clock.now();
    this.#beat();
  }

  /** Resolves when it is written, so that an assistant that reads slowly slows the agent down. */
  async see(event: EventOf<"send">): Promise<void> {
    if (isClosing(event)) return this.#flush();
    if (event.kind === "artifact") {
      this.#pieces += piecesOf(event.artifact.parts);
      if (this.#clock.now() - this.#toldAt >= LIMITS.progressGapMs) await this.#flush();
      return;
    }
    await this.#flush();
    if (event.kind === "message") return;
    const status = event.kind === "task" ? event.task.status : event.status;
    const said = textOf(status.message?.content ?? []);
    const bare = event.kind === "task" ? `${status.state}: task ${event.task.id}` : status.state;
    await this.#say(said === "" ? bare : said);
  }

  end(): void {
    this.#ended = true;
    this.#stopBeat();
  }

  async #flush(): Promise<void> {
    const pieces = this.#pieces;
    this.#pieces = "";
    if (pieces !== "") await this.#say(pieces);
  }

  async #say(message: string): Promise<void> {
    if (this.#ended) return;
    this.#toldAt = this.#clock.now();
    await this.#tell(++this.#count, plainLine(message, LIMITS.lineChars));
  }

  #beat(): void {
    this.#stopBeat = this.#clock.after(LIMITS.heartbeatMs, () => {
      if (this.#ended) return;
      if (this.#clock.now() - this.#toldAt >= LIMITS.heartbeatMs) void this.#say("still at work");
      this.#beat();
    });
  }
}

/** The text of a piece; of anything else, what it is. */
function piecesOf(parts: readonly Part[]): string {
  const text = artifactText(parts);
  const others = parts.filter(({ kind }) => kind !== "text").map(labelOf);
  return `${text}${others.length === 0 ? "" : ` [${others.join(", ")}] `}`;
}

function labelOf({ kind, name, mediaType }: Part): Maybe<string> {
  return name ?? mediaType ?? kind;
}
