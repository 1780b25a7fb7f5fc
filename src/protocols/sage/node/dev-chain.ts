import { type ChildProcess, spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { AgentError, type JsonObject, type Maybe } from "../../../envelope/index.js";
import { packageFile } from "../../../transport/node/package-file.js";
import { EvmRegistry } from "../chain/evm-registry.js";
import { openNode } from "../chain/json-rpc.js";
import { chainClient } from "../chain/viem.js";
import { NETWORKS } from "../identity/did-sage.js";

const START_MS = 20_000;
const STOP_MS = 5_000;
const KEPT_OUTPUT = 4_096;
/** The version that is tested. */
const ANVIL = "@foundry-rs/anvil@1.7.1";
const ARTIFACT = "src/protocols/sage/contracts/SageRegistry.json";

/** A chain for development on this machine. Its accounts and their keys are public. */
export interface DevChain {
  readonly rpc: string;
  readonly pid: number;
  /** Resolves when the process has exited. */
  stop(signal?: NodeJS.Signals): Promise<void>;
}

/** Starts anvil on a loopback port, 0 for any, and waits until it accepts requests. */
export async function startDevChain(port: number): Promise<DevChain> {
  const settings = ["--host", "127.0.0.1", "--port", String(port), "--chain-id", String(NETWORKS.local)];
  const started = spawn(anvilProgram(), settings, { stdio: ["ignore", "pipe", "pipe"] });
  const kill = (): void => void started.kill("SIGKILL");
  process.once("exit", kill);
  try {
    const listening = await ready(started);
    return {
      rpc: `http://127.0.0.1:${listening}`,
      pid: started.pid ?? 0,
      async stop(signal = "SIGTERM") {
        process.removeListener("exit", kill);
        await ended(started, signal);
      },
    };
  } catch (thrown) {
    process.removeListener("exit", kill);
    kill();
    throw thrown;
  }
}

/** Where `koine sage chain dev` is unless it is told otherwise, and what it deploys first. */
export const DEV_PORT = 8_545;
const FIRST_CONTRACT = "0x5fbdb2315678afecb367f032d93f642f64180aa3";
const NOBODY = `0x${"0".repeat(40)}`;
/** A node of this machine is there at once, or not at all. */
const FIND_MS = 1_000;

/** The settings of the development chain that runs on this machine; undefined if there is none with the registry. */
export async function findDevChain(port: number = DEV_PORT): Promise<Maybe<JsonObject>> {
  const rpc = `http://127.0.0.1:${port}`;
  const node = openNode(rpc, FIND_MS);
  const registry = new EvmRegistry({ network: "local", rpc, registry: FIRST_CONTRACT, timeoutMs: FIND_MS });
  try {
    await node.request({ method: "eth_chainId", params: [] }); // before anything is loaded to ask for more
    await registry.read(NOBODY);
    return { rpc, registry: FIRST_CONTRACT };
  } catch {
    return undefined; // nothing listens there, or it is another chain or contract
  } finally {
    await Promise.all([node.close(), registry.close()]);
  }
}

/** Deploys a contract with the first account of a development chain; returns its address. */
export async function deployFrom(
  rpc: string,
  {
    abi,
    bytecode,
    args = [],
  }: { readonly abi: readonly unknown[]; readonly bytecode: string; readonly args?: readonly unknown[] },
): Promise<string> {
  const node = openNode(rpc);
  try {
    const { client } = await chainClient(node, NETWORKS.local);
    const [account] = await client.getAddresses();
    if (account === undefined) throw new AgentError("unavailable", "the development chain has no accounts");
    const hash = await client.deployContract({ abi, bytecode: bytecode as `0x${string}`, args: [...args], account });
    const { contractAddress } = await client.waitForTransactionReceipt({ hash });
    if (contractAddress == null) throw new AgentError("unavailable", "the contract was not deployed");
    return contractAddress.toLowerCase();
  } finally {
    await node.close();
  }
}

/** Deploys the registry; returns its address. */
export async function deployRegistry(rpc: string): Promise<string> {
  const { abi, bytecode } = JSON.parse(await readFile(packageFile(ARTIFACT), "utf8")) as { abi: unknown[]; bytecode: string };
  return deployFrom(rpc, { abi, bytecode });
}

/** The program inside its package, or one on the path. */
function anvilProgram(): string {
  const arch = process.arch === "x64" ? "amd64" : process.arch;
  const file = process.platform === "win32" ? "anvil.exe" : "anvil";
  const require = createRequire(import.meta.url);
  try {
    return require.resolve(`@foundry-rs/anvil-${process.platform}-${arch}/bin/${file}`);
  } catch {
    return file;
  }
}

function ready(started: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    let output = "";
    const fail = (problem: string): void =>
      reject(new AgentError("unavailable", `the development chain did not start: ${problem}`));
    const timer = setTimeout(() => fail(`no answer within ${START_MS} ms`), START_MS);
    const read = (text: string): void => {
      output = (output + text).slice(-KEPT_OUTPUT);
      const [, port] = /Listening on 127\.0\.0\.1:(\d+)/.exec(output) ?? [];
      if (port === undefined) return;
      clearTimeout(timer);
      started.stdout?.removeAllListeners("data").resume();
      resolve(Number(port));
    };
    started.once("error", (reason: NodeJS.ErrnoException) => {
      clearTimeout(timer);
      if (reason.code !== "ENOENT") return fail(String(reason.code));
      reject(new AgentError("unsupported", `a development chain needs anvil, which is not installed: npm install ${ANVIL}`));
    });
    started.once("exit", (code) => {
      clearTimeout(timer);
      fail(`it exited with ${code}: ${lastLine(output) ?? ""}`);
    });
    started.stdout?.setEncoding("utf8").on("data", read);
    started.stderr?.setEncoding("utf8").on("data", read);
  });
}

function lastLine(text: string): Maybe<string> {
  return text.trim().split("\n").at(-1);
}

function ended(started: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  return new Promise((resolve) => {
    if (started.exitCode !== null || started.signalCode !== null) return resolve();
    const timer = setTimeout(() => started.kill("SIGKILL"), STOP_MS);
    started.once("exit", () => {
      clearTimeout(timer);
      resolve();
    });
    started.kill(signal);
  });
}
