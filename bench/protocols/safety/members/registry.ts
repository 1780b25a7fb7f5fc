import { createServer, type IncomingMessage, request as requestClear, type ServerResponse } from "node:http";
import { createServer as createTlsServer, request as requestTls } from "node:https";
import { z } from "zod";
import { listenLocally, readBody } from "../controls/http.js";
import type { DirectoryEntry, RegistryAddress, RegistryTask } from "./tasks.js";

/** More members than any scenario has. */
const MOST_ENTRIES = 100;
const ENTRY = z.strictObject({ name: z.string().min(1).max(200), address: z.string().min(1).max(2_000) });
const DIRECTORY = z.array(ENTRY).max(MOST_ENTRIES);
const TIMEOUT_MS = 10_000;

/** The registration gateway: doctors register, the coordinator reads the directory. Both present its token. */
export async function openRegistry({ token, tls }: RegistryTask): Promise<number> {
  const entries = new Map<string, DirectoryEntry>();
  const exchange = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const answer = (status: number, value: unknown): void => {
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
    };
    if (request.headers.authorization !== `Bearer ${token}`) return answer(401, { error: "unauthenticated" });
    if (request.method === "GET" && request.url === "/directory") return answer(200, [...entries.values()]);
    if (request.method !== "POST" || request.url !== "/register") return answer(404, { error: "not_found" });
    const read = ENTRY.safeParse(parsed(await readBody(request)));
    if (!read.success) return answer(400, { error: "invalid_message" });
    // A name belongs to whoever registered it first.
    if (entries.has(read.data.name)) return answer(409, { error: "conflict" });
    if (entries.size >= MOST_ENTRIES) return answer(503, { error: "overloaded" });
    entries.set(read.data.name, read.data);
    return answer(201, read.data);
  };
  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    exchange(request, response).catch(() => response.destroy());
  };
  return listenLocally(tls === undefined ? createServer(listener) : createTlsServer(tls, listener));
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    return undefined;
  }
}

export async function register(registry: RegistryAddress, entry: DirectoryEntry): Promise<void> {
  const { status } = await call(registry, "POST", "/register", entry);
  if (status !== 201) throw new Error(`the registration gateway answered ${status} to ${entry.name}`);
}

/** The directory as it is now. */
export async function pullDirectory(registry: RegistryAddress): Promise<readonly DirectoryEntry[]> {
  const { status, body } = await call(registry, "GET", "/directory");
  if (status !== 200) throw new Error(`the registration gateway answered ${status}`);
  return DIRECTORY.parse(parsed(body));
}

function call({ url, token, ca }: RegistryAddress, method: string, path: string, value?: object) {
  const request = url.startsWith("https:") ? requestTls : requestClear;
  return new Promise<{ readonly status: number; readonly body: Buffer }>((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}` };
    const sent = request(`${url}${path}`, { method, headers, ca, timeout: TIMEOUT_MS, agent: false }, (response) => {
      readBody(response).then((body) => resolve({ status: response.statusCode ?? 0, body }), reject);
    });
    sent.on("timeout", () => sent.destroy(new Error("the registration gateway does not answer")));
    sent.on("error", reject);
    sent.end(value === undefined ? undefined : JSON.stringify(value));
  });
}
