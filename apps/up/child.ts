// A child process of `koine up`: one agent on one protocol, or one bridge. Its task is the only argument. It exits on SIGTERM
// and when its parent disconnects.
import type { PeerAddress, Server } from "../../src/index.js";
import { openIdentity } from "../../src/public/identity.js";
import { serveBridge } from "./bridge-process.js";
import type { Callee, ChildMessage, ChildTask } from "./child-task.js";
import { calleeLayers, callerLayers } from "./link-features.js";
import { readCredentials } from "./secrets.js";
import { echoAgent, serveInterface, serveOne } from "./serve-one.js";

const USAGE_EXIT = 2;
const FAILED_EXIT = 1;

function notifyParent(message: ChildMessage): void {
  process.send?.(message);
}

async function start(task: ChildTask): Promise<Pick<Server, "close">> {
  const source = { env: process.env, folder: task.folder };
  const { settings } = task;
  const file = task.kind === "agent" ? task.identity : undefined;
  const identity = file === undefined ? undefined : await openIdentity(file);
  const known = { settings, ...(identity === undefined ? {} : { identity }) };
  const addressOf = async ({ url, did, pin, credentials, switches }: Callee): Promise<PeerAddress> => ({
    ...known,
    layers: callerLayers(switches),
    require: switches.require,
    url: did ?? url,
    protocol: pin,
    credentials: await readCredentials(credentials, source),
  });
  const credentials = await readCredentials(task.credentials, source);
  if (task.kind === "bridge") {
    const { name, pin, port, switches } = task;
    return serveBridge({
      name,
      to: await addressOf(task.to),
      pin,
      port,
      credentials,
      layers: calleeLayers(switches, name),
      require: switches.require,
      settings,
    });
  }
  const peers = await Promise.all(Object.entries(task.peers).map(async ([id, callee]) => [id, await addressOf(callee)] as const));
  const layers = calleeLayers(task.switches, task.id);
  const { require } = task.switches;
  const admits = task.admits === undefined ? {} : { admits: task.admits };
  const options = { ...known, ...admits, name: task.id, credentials, layers, require, peers: Object.fromEntries(peers) };
  return task.file === undefined
    ? serveInterface(echoAgent(task.id), task.pin, task.port, options)
    : serveOne(task.file, task.pin, task.port, options);
}

function reasonOf(thrown: unknown, { port }: ChildTask): string {
  const code = thrown instanceof Error && "code" in thrown ? thrown.code : undefined;
  if (code === "EADDRINUSE") return `port ${port} is already in use`;
  return thrown instanceof Error ? thrown.message : String(thrown);
}

async function main(argument: string | undefined): Promise<void> {
  if (argument === undefined) process.exit(USAGE_EXIT);
  const task = JSON.parse(argument) as ChildTask; // written by childCommand()
  let end = (): void => process.exit(0);
  // Registered first: a bridge may wait forever for an upstream that is gone.
  process.once("SIGTERM", () => end());
  process.once("disconnect", () => end());
  if (process.connected === false) end();
  try {
    const server = await start(task);
    end = () => void server.close().finally(() => process.exit(0));
    notifyParent({ listening: task.port });
  } catch (thrown) {
    const failed = reasonOf(thrown, task);
    process.stderr.write(`${failed}\n`);
    if (process.send === undefined) process.exit(FAILED_EXIT);
    process.send({ failed } satisfies ChildMessage, () => process.exit(FAILED_EXIT));
  }
}

await main(process.argv[2]);
