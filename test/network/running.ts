import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as up from "../../apps/up/index.js";

/** Plans in their own folder, and their running processes. */
export class Site {
  readonly #running: up.LaunchedNetwork[] = [];
  readonly lines: string[] = [];

  private constructor(
    readonly folder: string,
    readonly program: typeof up,
  ) {}

  /** `program` is the supervisor: from source, or as built, whose processes start faster. */
  static async open(program = up): Promise<Site> {
    return new Site(await mkdtemp(join(tmpdir(), "koine-up-")), program);
  }

  async write(name: string, text: string): Promise<string> {
    const path = join(this.folder, name);
    await writeFile(path, text, { mode: 0o600 });
    return path;
  }

  async launch(plan: object, options: up.LaunchOptions = {}): Promise<up.LaunchedNetwork> {
    const parsed = await this.program.parsePlan(JSON.stringify(plan), { name: "plan.json", folder: this.folder });
    const launched = await this.program.launch(parsed, {
      onOutput: (id, _stream, line) => this.lines.push(`${id}: ${line}`),
      ...options,
    });
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

export function nodeOf(launched: up.LaunchedNetwork, id: string): up.NodeStatus {
  const found = launched.nodes().find((each) => each.id === id);
  if (found === undefined) throw new Error(`there is no ${id}`);
  return found;
}

/** The node, once the condition holds. The test's timeout bounds the wait. */
export function until(
  launched: up.LaunchedNetwork,
  id: string,
  wanted: (status: up.NodeStatus) => boolean,
): Promise<up.NodeStatus> {
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

/** Also false for a zombie: in a container nothing may reap it. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch (thrown) {
    // Without /proc only the signal tells.
    return thrown instanceof Error && "path" in thrown && !existsSync("/proc/self/stat");
  }
}

/** A module that runs a few lines of JavaScript. */
export function script(id: string, lines: string, more: object = {}): object {
  return { id, command: [process.execPath, "-e", lines], ...more };
}

/** Every module uses the first protocol of the seeds. */
export function onA2a(...ids: readonly string[]): object {
  return Object.fromEntries(ids.map((id) => [id, { selected_protocol: "A2A" }]));
}
