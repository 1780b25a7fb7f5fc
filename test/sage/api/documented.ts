import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { agent, serve } from "../../../src/index.js";
import { newAgent } from "../../../src/protocols/sage/api/builder.js";
import type { SageOptions } from "../../../src/protocols/sage/api/options.js";
import { ProtocolSAGE } from "../../../src/protocols/sage/api/selector.js";
import { EvmRegistry } from "../../../src/protocols/sage/chain/evm-registry.js";
import { NETWORKS } from "../../../src/protocols/sage/identity/did-sage.js";
import { createSageIdentity } from "../../../src/protocols/sage/identity/own-identity.js";
import { deployRegistry, startDevChain } from "../../../src/protocols/sage/node/dev-chain.js";
import { Registrar } from "../../../src/protocols/sage/node/registrar.js";
import { writeNewIdentity } from "../../../src/security/identity/index.js";
import { freePort } from "../../anp/directory.js";
import { rpc } from "../registries.js";

/** Below the package, so that its programs import `koine` as users do. */
const CACHE = resolve(import.meta.dirname, "../../../.cache");
const RUN_MS = 60_000;

/** What a program printed, and its exit code. */
export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * The world that documents describe: a registry on a node of Ethereum, an agent with an identity file, an agent that it calls by its DID, and
 * agents without SAGE. The node is one of this machine with the chain id of Ethereum; names of documents stand for what is here.
 */
export class DocumentedWorld {
  readonly folder: string;
  readonly #names = new Map<string, string>();
  readonly #closing: (() => unknown)[] = [];

  private constructor() {
    mkdirSync(CACHE, { recursive: true });
    this.folder = mkdtempSync(join(CACHE, "documented-"));
    this.#closing.push(() => rmSync(this.folder, { recursive: true }));
  }

  static async open(): Promise<DocumentedWorld> {
    const world = new DocumentedWorld();
    try {
      await world.#start();
      return world;
    } catch (thrown) {
      await world.close();
      throw thrown;
    }
  }

  /** A text of a document with what is here instead of its names. */
  here(text: string): string {
    let written = text;
    for (const [name, value] of this.#names) written = written.replaceAll(name, value);
    return written;
  }

  /** Runs TypeScript in the folder, as a user saves and runs it. */
  run(name: string, code: string): Promise<Ran> {
    const file = join(this.folder, name);
    writeFileSync(file, `${this.here(code)}\nprocess.exit(0);\n`); // servers that the code leaves open end with it
    const env = {
      ...process.env,
      KOINE_IDENTITY: "desk.json",
      KOINE_SAGE_RPC: this.here("https://node.example"),
      KOINE_SAGE_REGISTRY: this.here("0x5fbdb2315678afecb367f032d93f642f64180aa3"),
    };
    const child = spawn(process.execPath, ["--import", "tsx", file], { cwd: this.folder, env, timeout: RUN_MS });
    const [stdout, stderr]: [string[], string[]] = [[], []];
    child.stdout.setEncoding("utf8").on("data", (text: string) => void stdout.push(text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => void stderr.push(text));
    return new Promise((done, reject) => {
      child.once("error", reject);
      child.once("close", (code) => done({ code, stdout: stdout.join(""), stderr: stderr.join("") }));
    });
  }

  async close(): Promise<void> {
    for (const close of this.#closing.splice(0).reverse()) await close();
  }

  async #start(): Promise<void> {
    const chain = await startDevChain(0);
    this.#closing.push(() => chain.stop());
    const address = await deployRegistry(chain.rpc);
    await rpc(chain, "anvil_setChainId", [NETWORKS.ethereum]);
    const registry = new EvmRegistry({ network: "ethereum", rpc: chain.rpc, registry: address });
    this.#closing.push(() => registry.close());
    const register = async (name: string, endpoint: string): Promise<string> => {
      const file = join(this.folder, `${name}.json`);
      await writeNewIdentity(file, await createSageIdentity(name, "ethereum", "sage"));
      const registrar = await Registrar.open(file, () => registry);
      await registry.fund(registrar.identity.did.slice("did:sage:ethereum:".length));
      await registrar.register(endpoint);
      return registrar.identity.did;
    };
    const [deskPort, echoPort, peerPort] = [await freePort(), await freePort(), await freePort()];
    const desk = await register("desk", `http://127.0.0.1:${deskPort}`);
    const peer = await register("peer", `http://127.0.0.1:${peerPort}`);
    const own = { rpc: chain.rpc, address };
    await this.#servePeer({ did: peer, network: "ethereum", identity: join(this.folder, "peer.json"), registry: own }, peerPort);
    const plain = await this.#servePlain();
    for (const [name, value] of [
      ["did:sage:ethereum:0x1234567890abcdef1234567890abcdef12345678", desk],
      ["did:sage:ethereum:0x9876543210fedcba9876543210fedcba98765432", peer],
      ["0x5fbdb2315678afecb367f032d93f642f64180aa3", address],
      ["https://node.example", chain.rpc],
      ["https://other.example", plain],
      ["https://billing.example", plain],
      ["billing.example", new URL(plain).host],
      ["port: 8080", `port: ${deskPort}`],
      ["port: 8081", `port: ${echoPort}`],
      // The end of an exception, which must be in the future.
      ["2026-11-24T00:00:00Z", new Date(Date.now() + 86_400_000).toISOString()],
    ] as const)
      this.#names.set(name, value);
  }

  async #servePeer(sage: SageOptions, port: number): Promise<void> {
    const peer = newAgent("peer")
      .withProtocol(ProtocolSAGE)
      .withSAGE(sage)
      .onMessage(({ text }) => `peer: ${text}`)
      .build();
    const server = await peer.serve({ port });
    this.#closing.push(
      () => peer.close(),
      () => server.close(),
    );
  }

  async #servePlain(): Promise<string> {
    const plain = agent({ name: "other", description: "has no SAGE", handle: ({ text }) => `other: ${text}` });
    const server = await serve(plain);
    this.#closing.push(() => server.close());
    return server.url;
  }
}
