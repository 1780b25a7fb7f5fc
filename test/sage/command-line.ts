import type { ChildProcess } from "node:child_process";
import { expect } from "vitest";
import { freePort } from "../anp/directory.js";
import { exited } from "../child-process.js";
import { createWorkspace, koine, seen, serving, startKoine, type Workspace } from "../cli/koine.js";

const AGENT = "export const handle = (message, task) => task.owner + ': ' + message.text;";
const NOBODY = "http://127.0.0.1:1";

export interface Registered {
  readonly file: string;
  readonly did: string;
  readonly url: string;
}

/** What a gateway printed until it served, and its address. */
export interface StartedGateway {
  readonly said: string;
  readonly url: string;
}

/** SAGE as users run it: identities in an embedded registry, agents that take only sealed messages, and gateways in front of them. */
export class SageCommands {
  readonly state: string;
  readonly #workspace: Workspace;
  readonly #agent: string;
  readonly #closing: (() => Promise<unknown>)[] = [];
  readonly #gateways: ChildProcess[] = [];

  static async open(): Promise<SageCommands> {
    const workspace = await createWorkspace();
    await workspace.write("secret", "0123456789abcdef0123456789abcdef");
    return new SageCommands(workspace, await workspace.write("agent.mjs", AGENT));
  }

  constructor(workspace: Workspace, agent: string) {
    this.#workspace = workspace;
    this.#agent = agent;
    this.state = workspace.path("state");
  }

  async register(name: string, url = NOBODY): Promise<Registered> {
    const file = this.#workspace.path(`${name}.json`);
    const did = (await koine(["sage", "create", file])).stdout.trim();
    const done = await koine(["sage", "register", file, "--endpoint", url, "--data", this.state]);
    expect([done.code, done.stderr]).toEqual([0, ""]);
    return { file, did, url };
  }

  /** Serves an agent that answers with its caller and the text. */
  async serve(name: string, ...options: string[]): Promise<Registered> {
    const port = await freePort();
    const desk = await this.register(name, `http://127.0.0.1:${port}`);
    const data = ["--data", this.state, "--no-seal-store"];
    const required = ["--require", "signed,end-to-end"];
    const served = await serving([this.#agent, "--identity", desk.file, ...required, ...data, ...options], {}, port);
    this.#closing.push(() => served.stop());
    return desk;
  }

  /**
   * `koine gateway` under the identity `gateway`. On a busy machine the upstream may answer after the time for its discovery: then the
   * gateway starts again. The test's timeout bounds this.
   */
  async startGateway(upstream: string, settings = "{}"): Promise<StartedGateway> {
    for (;;) {
      const started = await this.#startOnce(upstream, settings);
      if (started.said.includes("verified by a live answer")) return started;
      await this.stopGateways();
    }
  }

  async #startOnce(upstream: string, settings: string): Promise<StartedGateway> {
    const port = await freePort();
    const file = await this.#workspace.write(
      "koine.yaml",
      `
listen: { port: ${port} }
identity: ./gateway.json
as: [a2a, acp, agora, sage]
secret: { file: ./secret }
store: { sqlite: ./state, seal: false }
settings: { sage: ${settings} }
agents:
  - name: desk
    upstream: "${upstream}"
    identity: ./gateway.json
    require: [signed, end-to-end]
`,
    );
    const child = startKoine(["gateway", file]);
    this.#gateways.push(child);
    let said = "";
    child.stderr?.on("data", (chunk) => (said += chunk));
    await seen(child.stderr, /Press Ctrl-C/);
    return { said, url: `http://127.0.0.1:${port}` };
  }

  async stopGateways(): Promise<void> {
    for (const child of this.#gateways.splice(0)) {
      child.kill("SIGTERM");
      await exited(child);
    }
  }

  async close(): Promise<void> {
    await this.stopGateways();
    for (const close of this.#closing.splice(0).reverse()) await close();
    await this.#workspace.clear();
  }
}
