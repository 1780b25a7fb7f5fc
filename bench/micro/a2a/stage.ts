import { join } from "node:path";
import { request } from "undici";
import type { RequestTemplate } from "../../harness/http-load.js";
import { type Cores, startWorker, type Worker } from "../../harness/processes.js";
import type { Family } from "./options.js";
import { COUNTER, HEADERS, MARKER, type Mode, type Room, restBody, rpcBody, type ServerAddress, type Shape } from "./workload.js";

/** Starts the processes of the arms and probes their answers. */
export interface Stage {
  readonly families: ReadonlySet<Family>;
  readonly shape: Shape;
  startServer(family: Family | "floor", mode: Mode, room?: Room): Promise<ServerWorker>;
  startClient(family: Family | "floor" | "undici", server: ServerWorker, binding?: "rpc" | "rest"): Promise<Worker>;
  /** A server that speaks HTTP/2 only, by the name of its worker file. */
  startGrpc(name: string, argument: unknown): Promise<ServerWorker>;
  startOther(name: string): Worker;
}

export interface ServerWorker extends Worker {
  readonly address: ServerAddress;
}

export type Endpoint = "rpc" | "rest" | "stream";

const WORKER_FILES = { floor: "floor", koine: "koine", "a2a-js": "sdk", undici: "undici" } as const;

/** Probes one arm for each kind of answer first, because the floor must answer with as many bytes. */
export async function setStage(dist: string, families: ReadonlySet<Family>, cores: Cores): Promise<Stage> {
  const file = (name: string) => join(dist, "bench", "micro", "a2a", "workers", `${name}.js`);
  const startServer = async (
    family: Family | "floor",
    mode: Mode,
    rest: { readonly shape?: Shape; readonly room?: Room | undefined } = {},
  ): Promise<ServerWorker> => {
    const worker = startWorker(`${family} server`, file(`${WORKER_FILES[family]}-server`), { core: cores.server });
    const address = await worker.ask<ServerAddress>("start", { mode, ...rest });
    return Object.assign(worker, { address });
  };
  const shape = await probeShape((mode) => startServer(families.has("koine") ? "koine" : "a2a-js", mode));
  return {
    families,
    shape,
    startServer: (family, mode, room) => startServer(family, mode, { shape, room }),
    async startClient(family, server, binding = "rpc") {
      const worker = startWorker(`${family} client`, file(`${WORKER_FILES[family]}-client`), { core: cores.load });
      await worker.ask("connect", { server: server.address, binding });
      return worker;
    },
    async startGrpc(name, argument) {
      const worker = startWorker(name, file(name), { core: cores.server });
      return Object.assign(worker, { address: await worker.ask<ServerAddress>("start", argument) });
    },
    startOther: (name) => startWorker(name, file(name), { core: cores.load }),
  };
}

/** The request of an arm, ready for the load process. */
export function templateOf({ port, rpcPath, restPath }: ServerAddress, endpoint: Endpoint): RequestTemplate {
  const body = endpoint === "rest" ? restBody() : rpcBody(endpoint === "stream" ? "SendStreamingMessage" : "SendMessage");
  const path = endpoint === "rest" ? restPath : rpcPath;
  const headers = endpoint === "stream" ? { ...HEADERS, Accept: "text/event-stream" } : HEADERS;
  return { port, path, headers, body, counter: COUNTER, marker: MARKER };
}

async function probeShape(start: (mode: Mode) => Promise<ServerWorker>): Promise<Shape> {
  const ask = async (mode: Mode, endpoint: Endpoint) => {
    const server = await start(mode);
    try {
      return await askOnce(server.address, endpoint);
    } finally {
      server.stop();
    }
  };
  const [rpc, rest, task, stream] = await Promise.all([
    ask("reply", "rpc"),
    ask("reply", "rest"),
    ask("task", "rpc"),
    ask("stream", "stream"),
  ]);
  return {
    rpcBytes: Buffer.byteLength(rpc),
    restBytes: Buffer.byteLength(rest),
    taskBytes: Buffer.byteLength(task),
    eventBytes: [...stream.matchAll(/^data: ?(.*)$/gm)].map(([, data = ""]) => Buffer.byteLength(data)),
  };
}

async function askOnce(address: ServerAddress, endpoint: Endpoint): Promise<string> {
  const { path, headers, body } = templateOf(address, endpoint);
  const answer = await request(`${address.url}${path}`, { method: "POST", headers, body });
  const text = await answer.body.text();
  if (answer.statusCode > 299 || !text.includes(MARKER)) throw new Error(`${path}: answered ${answer.statusCode} ${text}`);
  return text;
}
