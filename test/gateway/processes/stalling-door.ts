import { createServer, connect as dial, type Socket } from "node:net";

/** How a door treats what comes back from behind it. What it keeps back it gives once it is open again. */
export type Stall = "open" | "silent" | "head" | "trickle";

/** A door in front of a server that can be stopped up: whoever stands before it is taken in and gets nothing, or crumbs. */
export interface StallingDoor {
  readonly url: string;
  /** Also for connections that are there. */
  stall(how: Stall): void;
  close(): Promise<void>;
}

const CRUMB_EVERY_MS = 1_000;
/** Where no head of HTTP/1 can be seen, as in HTTP/2: the first frames, and no whole answer. */
const HEAD_BYTES = 40;

/** Stands on the level of bytes, so it serves whatever is spoken. `behind` is asked with each connection. */
export async function stallingDoor(behind: () => number): Promise<StallingDoor> {
  const passages = new Set<Passage>();
  let how: Stall = "open";
  const server = createServer((front) => {
    const passage = new Passage(front, dial(behind(), "127.0.0.1"), () => passages.delete(passage));
    passage.how = how;
    passages.add(passage);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const crumbs = setInterval(() => {
    for (const passage of passages) passage.crumb();
  }, CRUMB_EVERY_MS);
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`,
    stall(now) {
      how = now;
      for (const passage of passages) passage.change(now);
    },
    async close() {
      clearInterval(crumbs);
      for (const passage of passages) passage.end();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** One connection through the door. */
class Passage {
  how: Stall = "open";
  #kept: Buffer = Buffer.alloc(0);
  #headGiven = false;
  readonly #front: Socket;
  readonly #back: Socket;

  constructor(front: Socket, back: Socket, ended: () => void) {
    this.#front = front;
    this.#back = back;
    for (const socket of [front, back]) {
      socket.on("error", () => undefined);
      socket.on("close", () => {
        this.end();
        ended();
      });
    }
    front.pipe(back);
    back.on("data", (chunk: Buffer) => this.#take(chunk));
  }

  change(how: Stall): void {
    this.how = how;
    this.#headGiven = false;
    if (how === "open") this.#give(this.#kept.length);
  }

  crumb(): void {
    if (this.how === "trickle") this.#give(1);
  }

  end(): void {
    this.#front.destroy();
    this.#back.destroy();
  }

  #take(chunk: Buffer): void {
    this.#kept = Buffer.concat([this.#kept, chunk]);
    if (this.how === "open") this.#give(this.#kept.length);
    if (this.how !== "head" || this.#headGiven) return;
    this.#headGiven = true;
    const end = this.#kept.indexOf("\r\n\r\n");
    this.#give(end < 0 ? HEAD_BYTES : end + 4);
  }

  #give(bytes: number): void {
    if (bytes > 0 && !this.#front.destroyed) this.#front.write(this.#kept.subarray(0, bytes));
    this.#kept = this.#kept.subarray(bytes);
  }
}
