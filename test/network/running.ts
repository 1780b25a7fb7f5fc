import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type LaunchedNetwork, type LaunchOptions, launch, type NodeStatus, parsePlan } from "../../apps/up/index.js";

/** Plans in a folder of their own, and everything that runs for them. */
export class Site {
  readonly #running: LaunchedNetwork[] = [];
  readonly lines: string[] = [];

  private constructor(readonly folder: string) {}

  static async open(): Promise<Site> {
    return new Site(await mkdtemp(join(tmpdir(), "koine-up-")));
  }

  async write(name: string, text: string): Promise<string> {
    const path = join(this.folder, name);
    await writeFile(path, text, { mode: 0o600 });
    return path;
  }

  async launch(plan: object, options: LaunchOptions = {}): Promise<LaunchedNetwork> {
    const parsed = await parsePlan(JSON.stringify(plan), { name: "plan.json", folder: this.folder });
    const launched = await launch(parsed, { onOutput: (id, _stream, line) => this.lines.push(`${id}: ${line}`), ...options });
    this.#running.push(launched);
    return launched;
  }

  async stopAll(): Promise<void> {
    await Promise.all(this.#running.splice(0).map((each) => each.stop()));
  }

  async close(): Promise<void> {
    await this.stopAll();
    await rm(this.folder, { recursive: true, force: true });
  }
}

export function nodeOf(launched: LaunchedNetwork, id: string): NodeStatus {
  const found = launched.nodes().find((each) => each.id === id);
  if (found === undefined) throw new Error(`there is no ${id}`);
  return found;
}

/** The node, once it is so. The test's own time limit ends the wait. */
export function until(launched: LaunchedNetwork, id: string, wanted: (status: NodeStatus) => boolean): Promise<NodeStatus> {
  return new Promise((resolve) => {
    const look = (): void => {
      const status = nodeOf(launched, id);
      if (!wanted(status)) return;
      off();
      resolve(status);
    };
    const off = launched.onChange(look);
    look();
  });
}

/** Also false for one that has ended and that nobody has asked about yet: in a container often nobody ever does. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch (thrown) {
    // Where there is no such folder the signal alone says it.
    return thrown instanceof Error && "path" in thrown && !existsSync("/proc/self/stat");
  }
}

/** A module that runs a few lines of JavaScript. */
export function script(id: string, lines: string, more: object = {}): object {
  return { id, command: [process.execPath, "-e", lines], ...more };
}

/** Every module on the first protocol of the seeds. */
export function onA2a(...ids: readonly string[]): object {
  return Object.fromEntries(ids.map((id) => [id, { selected_protocol: "A2A" }]));
}
