import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface, type Interface as Lines } from "node:readline";
import { protocols } from "../../src/public/protocols.js";
import { type Authority, makeAuthority, type Pair } from "../certificates.js";
import { seen, startKoine } from "../cli/koine.js";
import { compiled } from "../programs.js";
import type { Noticed } from "./processes/bystander.js";

/** A gateway process in its recommended profile, with real upstream processes, and a bystander that watches it. */

/** Bob is the victim; the others attack. */
export const TOKENS = {
  alice: "alice-token-0123456789",
  bob: "bob-token-0123456789",
  dave: "dave-token-0123456789",
} as const;
export const WEBHOOK_TOKEN = "webhook-token-0123456789";
/** A message with this text gets the prepared answer instead of that of the agent. */
export const HOSTILE = "hostile answer";

/** `src` names the source, `ask` asks back, `slow` works until it is stopped; everything else is echoed. */
const AGENT = `
export async function* handle(message, task) {
  if (task.turn > 1) return "heard " + message.text;
  if (message.text === "src") return JSON.stringify([message.src, message.meta.claimedSrc ?? null]);
  if (message.text === "ask") { yield task.working("thinking"); return task.ask("which?"); }
  if (message.text.startsWith("task")) { yield task.working("on it"); return "done"; }
  if (message.text === "slow") {
    yield task.working("slow");
    await new Promise((resolve) => { const timer = setTimeout(resolve, 20_000); task.signal.addEventListener("abort", () => { clearTimeout(timer); resolve(); }); });
    return "late";
  }
  return "echo " + message.text.slice(0, 100);
}
`;

interface ListedInterface {
  readonly protocol: string;
  readonly version: string;
  readonly binding: string;
  readonly url: string;
}

/** The start line of `koine serve -o json`. */
interface StartedUpstream {
  readonly port: number;
  readonly interfaces: readonly ListedInterface[];
}

/** The start line of `koine gateway -o json`. */
interface Started {
  readonly url: string;
  readonly port: number;
  readonly agents: readonly { readonly name: string; readonly interfaces: readonly ListedInterface[] }[];
}

/** A request that a protocol sends to an agent, from the samples of its folder. */
export interface ProtocolRequest {
  readonly protocol: string;
  readonly about: string;
  readonly url: string;
  readonly headers: { readonly [name: string]: string };
  readonly body: object;
}

/** A server process with `/health`. */
export interface WatchedServer {
  readonly url: string;
  readonly pid: number | undefined;
}

export class Stage {
  readonly authority: Authority;
  readonly folder: string;
  readonly #children: ChildProcess[] = [];
  /** The server that is attacked now. */
  target: WatchedServer = { url: "", pid: undefined };
  #gateway: ChildProcess | undefined;
  #started: Started = { url: "", port: 0, agents: [] };
  #watchers = new Map<string, Bystander>();

  private constructor(authority: Authority, folder: string) {
    this.authority = authority;
    this.folder = folder;
  }

  static async open(): Promise<Stage> {
    const stage = new Stage(await makeAuthority(), await mkdtemp(join(tmpdir(), "koine-attack-")));
    await stage.#start();
    return stage;
  }

  get url(): string {
    return this.#started.url;
  }

  get gateway(): WatchedServer {
    return { url: this.url, pid: this.#gateway?.pid };
  }

  get port(): number {
    return this.#started.port;
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  /** A certificate and its key, by name. */
  async pair(name: string): Promise<Pair> {
    const [cert, key] = await Promise.all([
      readFile(this.path(`${name}.pem`), "utf8"),
      readFile(this.path(`${name}.key`), "utf8"),
    ]);
    return { cert, key };
  }

  /** The address of an agent of the gateway: one per protocol of its upstream, by the protocol's id. */
  agents(): readonly string[] {
    return this.#started.agents.map(({ name }) => name);
  }

  /** Sample requests of every protocol that send `text` to the agent. */
  async requests(text: string, agent = this.agents()[0] ?? ""): Promise<readonly ProtocolRequest[]> {
    const interfaces = this.#started.agents.find(({ name }) => name === agent)?.interfaces ?? [];
    const made = await Promise.all(
      protocols.map(async ({ id, samples }) => {
        const card = { name: agent } as Parameters<NonNullable<typeof samples>>[1]; // samples use the name only
        return ((await samples?.(text, card)) ?? []).flatMap(({ wire, about, path, headers, body }) => {
          const address =
            wire === undefined
              ? this.url
              : interfaces.find((each) => each.protocol === id && each.version === wire.version && each.binding === wire.binding)
                  ?.url;
          return address === undefined ? [] : [{ protocol: id, about, url: `${address}${path}`, headers, body }];
        });
      }),
    );
    return made.flat();
  }

  /** Sets the answer to `HOSTILE` messages. */
  async answerHostile(answer: Buffer): Promise<void> {
    await writeFile(this.path("hostile-answer"), answer);
  }

  /** Kibibytes of the gateway: resident now, and the most since the last call. */
  async memory(): Promise<{ readonly resident: number; readonly peak: number }> {
    const status = await readFile(`/proc/${this.#gateway?.pid}/status`, "utf8");
    const value = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(status)?.[1]);
    await writeFile(`/proc/${this.#gateway?.pid}/clear_refs`, "5");
    return { resident: value("VmRSS"), peak: value("VmHWM") };
  }

  /** A server watched by a process of its own. */
  watch({ url, pid }: WatchedServer): Bystander {
    const known = this.#watchers.get(url);
    if (known !== undefined) return known;
    const argv = [compiled("test/attack/processes/bystander.ts"), url, this.path("ca.pem"), String(pid)];
    const made = new Bystander(this.#keep(spawn(process.execPath, argv)));
    this.#watchers.set(url, made);
    return made;
  }

  /** A webhook receiver in its own process. */
  async receiver(): Promise<WatchedServer> {
    const program = compiled("test/attack/processes/receiver.ts");
    const child = this.#keep(
      spawn(process.execPath, [program, this.path("server.pem"), this.path("server.key"), WEBHOOK_TOKEN], {
        stdio: ["pipe", "pipe", "inherit"],
      }),
    );
    return { url: (await seen(child.stdout, /https:\S+/)).trim(), pid: child.pid };
  }

  async close(): Promise<void> {
    for (const child of this.#children.reverse()) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const ended = once(child, "close");
      child.kill("SIGKILL");
      await ended;
    }
    await rm(this.folder, { recursive: true, force: true });
  }

  #keep(child: ChildProcess): ChildProcess {
    this.#children.push(child);
    return child;
  }

  async #write(name: string, text: string): Promise<string> {
    await writeFile(this.path(name), text, { mode: 0o600 });
    return this.path(name);
  }

  async #start(): Promise<void> {
    const server = await this.authority.issue({ hosts: ["localhost", "127.0.0.1"] });
    const revoked: Pair = await this.authority.issue({ hosts: ["mallory"], client: true });
    await Promise.all([
      this.#write("ca.pem", this.authority.ca),
      this.#write("server.pem", server.cert),
      this.#write("server.key", server.key),
      this.#write("revoked.pem", revoked.cert),
      this.#write("revoked.key", revoked.key),
      this.#write("clients.crl", await this.authority.crl([revoked])),
      this.#write(
        "tokens",
        Object.entries(TOKENS)
          .map(([name, token]) => `${name}=${token}\n`)
          .join(""),
      ),
      this.#write("agent.mjs", AGENT),
    ]);
    const proxyPort = await this.#openProxy();
    const upstream = this.#keep(
      startKoine(["serve", this.path("agent.mjs"), "--port", "0", "--name", `127.0.0.1:${proxyPort}`, "-o", "json"]),
    );
    const { port, interfaces } = await firstLine<StartedUpstream>(upstream);
    await this.#write("upstream-port", String(port));
    // Some protocols need an identity, which this upstream has not.
    const spoken = new Set(interfaces.map(({ protocol }) => protocol));
    const config = {
      profile: "recommended",
      listen: { port: 0, tls: { cert: "server.pem", key: "server.key", clientCa: "ca.pem", crl: "clients.crl" } },
      auth: { tokens: { file: "tokens" } },
      audit: "audit.jsonl",
      // Shorter than those of the profile, so that slow attacks end soon.
      limits: { firstByteMs: 1_000, headersMs: 2_000, requestMs: 10_000, sessionFirstMessageMs: 2_000 },
      // Soon full, for the attack on it.
      taskLimits: { keptBytes: 64 * 1024 * 1024 },
      agents: [...spoken].map((id) => ({ name: id, upstream: `http://127.0.0.1:${proxyPort}`, pin: id })),
    };
    const file = await this.#write("koine.json", JSON.stringify(config));
    this.#gateway = this.#keep(startKoine(["gateway", file, "--require-upstreams", "-o", "json"]));
    this.#started = await firstLine<Started>(this.#gateway);
  }

  async #openProxy(): Promise<number> {
    const argv = [compiled("test/attack/processes/proxy.ts"), this.folder, HOSTILE];
    const child = this.#keep(spawn(process.execPath, argv, { stdio: ["pipe", "pipe", "inherit"] }));
    return Number((await seen(child.stdout, /port \d+/)).slice("port ".length));
  }
}

async function firstLine<T>(child: ChildProcess): Promise<T> {
  let errors = "";
  child.stderr?.on("data", (chunk) => (errors += chunk));
  const line = await seen(child.stdout, /^\{.*\}$/m).catch(() => {
    throw new Error(`it did not start: ${errors}`);
  });
  return JSON.parse(line) as T; // the output of the command with `-o json`
}

/** The control of a bystander process. */
export class Bystander {
  readonly #child: ChildProcess;
  readonly #lines: Lines;

  constructor(child: ChildProcess) {
    this.#child = child;
    if (child.stdout === null) throw new Error("the bystander has no output");
    this.#lines = createInterface({ input: child.stdout });
  }

  /** What it noticed since the last call. */
  async noticed(): Promise<Noticed> {
    const line = once(this.#lines, "line");
    this.#child.stdin?.write("mark\n");
    return JSON.parse(String((await line)[0])) as Noticed; // the output of bystander.ts
  }
}
