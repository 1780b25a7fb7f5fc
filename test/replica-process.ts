import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { isTerminal, type RemoteAgent } from "../src/index.js";
import type { ReplicaFacts } from "./chaos/replica.js";
import { exited } from "./child-process.js";
import { compiled } from "./programs.js";

/** A server in its own process, to be killed. */
export interface ReplicaProcess {
  readonly url: string;
  readonly pid: number;
  /** The lines it printed after `ready`. */
  readonly output: readonly string[];
  /** SIGKILL. Resolves when the process has exited. */
  kill(): Promise<void>;
}

const running = new Set<ChildProcess>();

/** Starts one and waits until it accepts requests. */
export async function startReplica(facts: ReplicaFacts): Promise<ReplicaProcess> {
  const argv = [compiled("test/chaos/replica.ts"), JSON.stringify(facts)];
  const child = spawn(process.execPath, argv, { stdio: ["ignore", "pipe", "inherit"] });
  running.add(child);
  const gone = exited(child).then(() => running.delete(child));
  const output: string[] = [];
  const lines = createInterface({ input: child.stdout });
  const [ready] = await Promise.race([once(lines, "line"), gone.then(() => ["exited before it was ready"])]);
  const [word, url = ""] = String(ready).split(" ");
  if (word !== "ready") throw new Error(`the replica ${ready}`);
  lines.on("line", (line) => output.push(line));
  return {
    url,
    pid: child.pid ?? 0,
    output,
    async kill() {
      child.kill("SIGKILL");
      await gone;
    },
  };
}

/** Kills the replicas that a test left running. */
export async function killReplicas(): Promise<void> {
  await Promise.all(
    [...running].map((child) => {
      child.kill("SIGKILL");
      return exited(child);
    }),
  );
}

/** What one reader of a counting task received: its numbers and its last state, and where it stopped. */
export interface Received {
  readonly numbers: readonly string[];
  readonly state: string;
  readonly cursor: string | undefined;
  /** Why the stream broke; undefined if it ended. */
  readonly broke: unknown;
}

/**
 * Reads a task to its end, or to where the stream breaks. With a cursor, the snapshot at the start is not counted again.
 * `numbers` may be passed in to follow the progress.
 */
export async function readTask(peer: RemoteAgent, taskId: string, after?: string, numbers: string[] = []): Promise<Received> {
  let state = "";
  let cursor = after;
  try {
    for await (const event of peer.subscribe(taskId, after === undefined ? {} : { after })) {
      if (event.kind === "task" && after === undefined) for (const made of event.task.artifacts) numbers.push(...numbersOf(made));
      if (event.kind === "artifact") numbers.push(...numbersOf(event.artifact));
      if (event.kind === "status") ({ state } = event.status);
      cursor = event.cursor ?? cursor;
    }
    return { numbers, state, cursor, broke: undefined };
  } catch (broke) {
    return { numbers, state, cursor, broke };
  }
}

/** The numbers of an artifact, without the process ids. */
export function numbersOf({ parts }: { readonly parts: readonly { readonly kind: string }[] }): readonly string[] {
  return parts.flatMap((part) => ("text" in part ? [String(part.text).split("@")[0] ?? ""] : []));
}

/** The numbers from 0 on, as the agent sends them. */
export function upTo(many: number): readonly string[] {
  return Array.from({ length: many }, (_, number) => String(number));
}

/** The task, once it has ended. */
export async function ended(peer: RemoteAgent, taskId: string, withinMs: number) {
  const until = Date.now() + withinMs;
  for (;;) {
    const task = await peer.getTask(taskId);
    if (isTerminal(task.status.state)) return task;
    if (Date.now() > until) throw new Error(`still ${task.status.state} after ${withinMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
