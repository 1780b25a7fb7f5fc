import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { DEFAULT_CIPHERS } from "node:tls";
import { connect, DiscoveryCache } from "../../src/index.js";
import { protocols } from "../../src/public/protocols.js";
import { type Answer, rawSocket, refusalName, send, sendOverHttp2, sendRaw } from "./requests.js";
import { HOSTILE, type ProtocolRequest, type Stage, TOKENS, type WatchedServer, WEBHOOK_TOKEN } from "./stage.js";

/** One way to hurt a gateway or its other callers. */
export interface Attack {
  readonly name: string;
  /** Every refusal has this name. */
  readonly expected: RegExp;
  /** The most that the gateway's memory may grow meanwhile, in MiB. Default: 200. */
  readonly growthMiB?: number;
  /** Returns the names of the refusals. */
  run(stage: Stage, full: boolean): Promise<readonly string[]>;
  /** The server that the bystander watches. Default: the gateway. */
  target?(stage: Stage): Promise<WatchedServer>;
}

const MIB = 1024 * 1024;
/** Below the body limit of the recommended profile, so that it is the number of values that counts. */
const BODY_BYTES = 4 * MIB - 1_024;
const { alice, dave } = TOKENS;

/** `{"a":[{},{},…]}` of this size: a parser makes an object of every three bytes. */
function manyValues(bytes: number): Buffer {
  return Buffer.from(`{"a":[${"{},".repeat(Math.floor((bytes - 8) / 3))}{}]}`);
}

const named = (answers: readonly Answer[]): readonly string[] => answers.map(refusalName);

/** Adds a member to every object of a request; `json` makes its value of the bytes that each may have. */
function withMember({ body }: ProtocolRequest, name: string, json: (bytes: number) => string): string {
  const mark = "~member~";
  const add = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(add);
    if (typeof value !== "object" || value === null) return value;
    return { ...(mapped(value, add) as object), [name]: mark };
  };
  const pieces = JSON.stringify(add(body)).split(JSON.stringify(mark));
  return pieces.join(json(Math.floor((BODY_BYTES - 4_096) / (pieces.length - 1))));
}

const ID = /(^|_|message)id$|^(sender|receiver|agent_name)$/i;

/** The body with one id or name replaced, for each of them. */
function withEachId(body: unknown, long: string): readonly string[] {
  return [...changed(body, "")].map((each) => JSON.stringify(each));

  function* changed(value: unknown, key: string): Generator<unknown> {
    if (typeof value === "string" && ID.test(key)) yield long;
    if (typeof value !== "object" || value === null) return;
    for (const [name, member] of Object.entries(value))
      for (const each of changed(member, name))
        yield Array.isArray(value) ? value.map((item) => (item === member ? each : item)) : { ...value, [name]: each };
  }
}

/** All sample requests, one after the other. */
async function toEach(
  stage: Stage,
  text: string,
  bodies: (request: ProtocolRequest) => Iterable<Buffer | string>,
  token?: string,
): Promise<readonly Answer[]> {
  const answers: Answer[] = [];
  for (const request of await stage.requests(text))
    for (const body of bodies(request))
      answers.push(await send(stage, { url: request.url, headers: request.headers, body, ...(token && { token }) }));
  return answers;
}

/**
 * By name, or by the words of protocols that have no names. `closed`: the server closed while the upload went on, and the client saw the
 * closed connection before the answer.
 */
const TOO_LARGE = /^(closed$|\d+ (too_large|the body has more than \d+ JSON values|the request body is longer than))/i;

export const ATTACKS: readonly Attack[] = [
  {
    name: "many JSON values from an admitted caller",
    expected: TOO_LARGE,
    run: async (stage) => named(await toEach(stage, "hi", () => [manyValues(BODY_BYTES), manyValues(16 * MIB)], alice)),
  },
  {
    name: "many JSON values inside a message",
    expected: TOO_LARGE,
    run: async (stage) => {
      const values = (bytes: number): string => manyValues(bytes).toString();
      return named(await toEach(stage, "hi", (request) => [withMember(request, "metadata", values)], alice));
    },
  },
  {
    name: "many JSON values as the answer of an upstream",
    expected: /^200 (bad_peer|INVALID_AGENT_RESPONSE)/,
    async run(stage) {
      const names: string[] = [];
      for (const agent of stage.agents())
        for (const bytes of [BODY_BYTES, 16 * MIB]) {
          await stage.answerHostile(manyValues(bytes));
          const [first] = await stage.requests(HOSTILE, agent);
          if (first === undefined) continue;
          const { url, headers, body } = first;
          names.push(refusalName(await send(stage, { url, headers, body: JSON.stringify(body), token: alice })));
        }
      return names;
    },
  },
  {
    name: "many JSON values from a webhook sender",
    expected: TOO_LARGE,
    target: (stage) => stage.receiver(),
    async run(stage) {
      const { url } = stage.target;
      const headers = { "x-a2a-notification-token": WEBHOOK_TOKEN, authorization: `Bearer ${WEBHOOK_TOKEN}` };
      return named(
        await Promise.all(
          [BODY_BYTES, 16 * MIB].map((bytes) => send(stage, { url: `${url}/hook`, headers, body: manyValues(bytes) })),
        ),
      );
    },
  },
  {
    name: "many large bodies at once, HTTP/1.1 and HTTP/2",
    expected: /^(ANSWERED 200|\d+ overloaded|503 |closed$)/i,
    async run(stage, full) {
      const [request] = await stage.requests("x".repeat(BODY_BYTES - 1_024));
      if (request === undefined) return [];
      const sent = { url: request.url, headers: request.headers, body: JSON.stringify(request.body), token: alice };
      const times = full ? 60 : 20;
      const http1 = Array.from({ length: times }, () => send(stage, sent));
      const names = named([...(await Promise.all(http1)), ...(await sendOverHttp2(stage, sent, times))]);
      return names.some((name) => name.startsWith("503")) ? names : ["NOT LIMITED"];
    },
  },
  {
    name: "16 MiB from a caller without credentials",
    expected: /^(401 unauthenticated|closed$)/i,
    growthMiB: 64,
    async run(stage) {
      const body = Buffer.alloc(16 * MIB, 0x20);
      const [request] = await stage.requests("hi");
      const sent = { url: request?.url ?? "", body };
      return named(await Promise.all(Array.from({ length: 10 }, () => send(stage, sent))));
    },
  },
  {
    name: "addresses inside the network in a message of a forwarded caller",
    expected: /^(?!FETCHED)/,
    async run(stage) {
      const fetched: string[] = [];
      const inside = createServer((request, response) => {
        fetched.push(`FETCHED ${request.url}`);
        response.end("secret");
      });
      await new Promise<void>((resolve) => inside.listen(0, "127.0.0.1", resolve));
      const url = `http://127.0.0.1:${(inside.address() as AddressInfo).port}/inside`;
      const filled = (value: unknown): unknown =>
        Array.isArray(value) && value.length === 0 ? [url] : value === null ? HASH : mapped(value, filled);
      const requests = await stage.requests("hi");
      const answers = await Promise.all(
        requests.map(({ url: address, headers, body }) =>
          send(stage, {
            url: address,
            headers: { ...headers, "x-forwarded-for": "203.0.113.9", forwarded: "for=203.0.113.9" },
            body: JSON.stringify(filled(body)),
            token: alice,
          }),
        ),
      );
      inside.close();
      return [...fetched, ...named(answers)];
    },
  },
  {
    name: "the operator's view on the callers' port",
    expected: /^(401|403|404)/,
    async run(stage) {
      const each = OPERATOR.flatMap((path) =>
        [{}, { token: alice }].map((more) => ({ url: `${stage.url}${path}`, method: "GET", ...more })),
      );
      return named(await Promise.all(each.map((sent) => send(stage, sent))));
    },
  },
  {
    name: "forged forwarding headers for the operator's view",
    expected: /^(401|403|404)/,
    async run(stage) {
      const forged = { "x-forwarded-for": "127.0.0.1", forwarded: "for=127.0.0.1", "x-real-ip": "127.0.0.1" };
      const answers = await Promise.all(
        OPERATOR.map((path) => send(stage, { url: `${stage.url}${path}`, method: "GET", headers: forged })),
      );
      return named(answers);
    },
  },
  {
    name: "ids of 100,000 characters",
    expected: /^\d+ (too_large|not_found|message\.id: it has 100000 characters|id has more than 512 characters)/i,
    run: async (stage) => named(await toEach(stage, "hi", ({ body }) => withEachId(body, "x".repeat(100_000)), alice)),
  },
  {
    name: "names and contexts of a megabyte",
    expected: /^(ANSWERED 200|200|4\d\d)/,
    async run(stage) {
      const text = (bytes: number): string => JSON.stringify("x".repeat(bytes - 16));
      const names = ["contextId", "session_id", "tenant", "taskId"].map((name) => [name, text] as const);
      const all = [["metadata", (bytes: number) => `{${text(bytes)}:1}`] as const, ...names];
      return named(await toEach(stage, "hi", (request) => all.map(([name, json]) => withMember(request, name, json)), alice));
    },
  },
  {
    name: "a forged source",
    expected: /^source is a pseudonym$/,
    async run(stage) {
      const names: string[] = [];
      for (const id of stage.agents()) {
        const peer = await connect(stage.url, {
          pin: id,
          as: "bob",
          discoveryCache: new DiscoveryCache(),
          credentials: { bearer: alice, tls: { ca: stage.authority.ca } },
        });
        const [src] = JSON.parse(await peer.ask("src", { tags: ["x"] })) as readonly string[];
        names.push(src === "bob" || src === "alice" ? `source is ${src}` : "source is a pseudonym");
        await peer.close();
      }
      return names;
    },
  },
  {
    name: "calls that are dropped",
    expected: /^dropped$/,
    async run(stage, full) {
      const [request] = await stage.requests("slow");
      if (request === undefined) return [];
      const body = JSON.stringify(request.body);
      const { pathname } = new URL(request.url);
      const head = `POST ${pathname} HTTP/1.1\r\nHost: 127.0.0.1:${stage.port}\r\nAuthorization: Bearer ${dave}\r\nContent-Type: application/json\r\n`;
      const extra = Object.entries(request.headers)
        .map(([name, value]) => `${name}: ${value}\r\n`)
        .join("");
      const dropped = Array.from({ length: full ? 1_000 : 150 }, async () => {
        const socket = rawSocket(stage);
        socket.on("error", () => undefined);
        await new Promise((resolve) => socket.once("secureConnect", resolve).once("close", resolve));
        socket.write(`${head}${extra}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
        await pause(50);
        socket.destroy();
        return "dropped";
      });
      return Promise.all(dropped);
    },
  },
  {
    name: "messages that fill the store, against the tasks of another caller",
    expected: /./,
    async run(stage, full) {
      const names: string[] = [];
      const [request] = await stage.requests(`task ${"x".repeat(3 * MIB)}`);
      for (let count = 0; count < (full ? 100 : 30) && request !== undefined; count++)
        names.push(
          refusalName(
            await send(stage, { url: request.url, headers: request.headers, body: JSON.stringify(request.body), token: alice }),
          ),
        );
      return names;
    },
  },
  {
    name: "many tenants of one caller",
    expected: /^(ANSWERED 200|\d+ forbidden)/i,
    async run(stage) {
      const names: string[] = [];
      for (let index = 0; index < 20; index++) {
        const tenant = JSON.stringify(`tenant-${index}`);
        names.push(...named(await toEach(stage, "task", (request) => [withMember(request, "tenant", () => tenant)], alice)));
      }
      // Protocols without tenants ignore the member.
      return names.some((name) => /forbidden/i.test(name)) ? names : ["NOT LIMITED"];
    },
  },
  {
    name: "HTTP requests that servers read differently",
    expected: /^400/,
    async run(stage) {
      const host = `Host: 127.0.0.1:${stage.port}\r\n`;
      const texts = [
        `GET /health HTTP/1.1\r\n${host}Host: elsewhere.example\r\n\r\n`,
        `GET http://elsewhere.example/health HTTP/1.1\r\n${host}\r\n`,
        `POST /health HTTP/1.1\r\n${host}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`,
        `POST /health HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n`,
        `GET /health HTTP/1.1\r\n${host}X: a\rb\r\n\r\n`,
      ];
      return named(await Promise.all(texts.map((text) => sendRaw(stage, text))));
    },
  },
  {
    name: "a revoked certificate, and one with a small RSA key",
    expected: /^401/,
    async run(stage) {
      const [request] = await stage.requests("hi");
      const weak = await stage.authority.issue({ hosts: ["mallory"], client: true, rsaBits: 1_024 });
      const sent = { url: request?.url ?? "", headers: request?.headers ?? {}, body: JSON.stringify(request?.body) };
      return named(
        await Promise.all([
          send(stage, { ...sent, ...(await stage.pair("revoked")) }),
          send(stage, { ...sent, ...weak, ciphers: `${DEFAULT_CIPHERS}:@SECLEVEL=0` }),
        ]),
      );
    },
  },
  {
    name: "slow and silent connections",
    expected: /^(408|closed)/,
    async run(stage, full) {
      const open = Array.from({ length: full ? 500 : 100 }, (_, index) => slowConnection(stage, index % 2 === 0));
      return named(await Promise.all(open));
    },
  },
  {
    name: "many session requests without credentials",
    expected: /^(4\d\d|closed$)/,
    async run(stage, full) {
      const paths = new Set(protocols.flatMap(({ routes }) => routes.filter(({ upgrade }) => upgrade).map(({ path }) => path)));
      const open = Array.from({ length: full ? 1_000 : 200 }, (_, index) => {
        const path = [...paths, "/"][index % (paths.size + 1)];
        const fields =
          "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n";
        return sendRaw(stage, `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${stage.port}\r\n${fields}\r\n`);
      });
      return named(await Promise.all(open));
    },
  },
];

/** What the operator sees, and callers do not. */
const OPERATOR = ["/koine/", "/koine/api/messages", "/koine/api/state", "/metrics"];
/** A hash that no document has. */
const HASH = "2jmj7l5rSw0yVb/vlWAYkK/YBwk=";

function mapped(value: unknown, change: (value: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map(change);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, change(member)]));
}

/** A head that never ends, a byte at a time; or not even a first byte. */
async function slowConnection(stage: Stage, silent: boolean): Promise<Answer> {
  const socket = rawSocket(stage);
  let text = "";
  socket.on("data", (piece: Buffer) => (text += piece.toString("latin1")));
  socket.on("error", () => undefined);
  const closed = new Promise<Answer>((resolve) =>
    socket.on("close", () => resolve({ status: Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0), body: text })),
  );
  await new Promise((resolve) => socket.once("secureConnect", resolve).once("close", resolve));
  if (!silent) {
    socket.write("GET /health HTTP/1.1\r\nX-Slow: ");
    const drip = setInterval(() => socket.write("x"), 250);
    socket.on("close", () => clearInterval(drip));
  }
  return closed;
}
