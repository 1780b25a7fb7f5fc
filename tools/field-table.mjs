// Where each field of a message is on the wire, and whether the other side reads it back. Nothing here is written down: every protocol
// sends a message whose fields have values of their own, and the values are looked for in the request.
import { AgentError } from "../src/index.ts";
import { createClientContext, createHost, protocols, startCall } from "../src/public/protocols.ts";
import { createMemoryStore } from "../src/public/stores.ts";

const PUBLIC_URL = "http://wire.example";

/** A value that is nowhere else in a request, for each field by its name in UTE JSON. */
const FIELDS = {
  id: "7a3c0b52-5d61-4f0e-9b7a-0d6f2c1e8a04",
  ts: 1_767_323_045.678,
  src: "src-6b1e",
  dst: "dst-3f0a",
  intent: "intent-91cc",
  content: "content-52fd",
  "context.trace_id": "4bf92f3577b34da6a3ce929d0e0e4736",
  "context.parent_id": "9d0f6a11-42c7-4a7e-8a55-0b6f2c1e8a05",
  "context.idempotency_key": "key-77ab",
  "context.session_id": "7a3c0b52-5d61-4f0e-9b7a-0d6f2c1e8a02",
  "context.priority": 7_351,
  "context.ttl_ms": 86_413_579,
  "context.artifact_refs": "https://files.example/ref-18be",
  "context.tags": "tag-c0de",
  "meta.protocol_hint": "hint-0d6f",
  "meta.retry_count": 40_961,
};

const ENVELOPE = {
  id: FIELDS.id,
  ts: FIELDS.ts,
  src: FIELDS.src,
  dst: FIELDS.dst,
  intent: FIELDS.intent,
  role: "user",
  content: [{ kind: "text", text: FIELDS.content }],
  context: {
    traceId: FIELDS["context.trace_id"],
    parentId: FIELDS["context.parent_id"],
    idempotencyKey: FIELDS["context.idempotency_key"],
    sessionId: FIELDS["context.session_id"],
    priority: FIELDS["context.priority"],
    ttlMs: FIELDS["context.ttl_ms"],
    artifactRefs: [FIELDS["context.artifact_refs"]],
    tags: [FIELDS["context.tags"]],
  },
  meta: { protocolHint: FIELDS["meta.protocol_hint"], retryCount: FIELDS["meta.retry_count"] },
};

const CARD = {
  name: FIELDS.dst,
  description: "Echoes",
  version: "1.0.0",
  skills: [{ id: FIELDS.intent, name: "Echo", description: "Says it again", tags: [] }],
  inputModes: ["text/plain"],
  outputModes: ["text/plain"],
  capabilities: { streaming: true, push: false, extended: false, idempotentSend: true, resume: false, extensions: [] },
  security: { schemes: {}, anyOf: [] },
  interfaces: [],
};

/** One column for each version of each protocol that is spoken without identities, over its first binding in JSON. */
export async function fieldTable(tableOf) {
  const columns = [];
  for (const protocol of protocols) if (protocol.needsIdentity !== true) columns.push(...(await columnsOf(protocol)));
  const rows = [...Object.keys(FIELDS), "context.stream"].map((field) => [
    `\`${field}\``,
    ...columns.map(({ cells }) => cells[field] ?? "–"),
  ]);
  return tableOf(["UTE", ...columns.map(({ title }) => title)], rows);
}

async function columnsOf(protocol) {
  const received = [];
  const answer = {
    kind: "message",
    message: { ...ENVELOPE, role: "agent", src: CARD.name, dst: FIELDS.src, context: {}, meta: {} },
  };
  const handler = async (operation) => {
    if (operation.kind === "send") received.push(operation.envelope);
    return answer;
  };
  const ids = { now: () => FIELDS.ts * 1000, newId: () => crypto.randomUUID() };
  const { records } = createMemoryStore({ now: ids.now });
  const served = protocol.serve(createHost({ handler, cards: [CARD], ids, publicUrl: PUBLIC_URL, records }));
  const columns = new Map();
  for (const { url, version, binding, tenant } of served.interfaces(CARD.name, PUBLIC_URL)) {
    if (columns.has(version)) continue;
    const sent = [];
    const exchange = (request) => {
      sent.push(request);
      return served.exchange(request);
    };
    const link = { exchange, close: async () => undefined };
    const peer = { url, card: CARD, version, binding, tenant };
    const client = protocol.connect({ ...createClientContext({ link, ids }), peer });
    try {
      const requestOf = async (delivery) => {
        sent.length = received.length = 0;
        const reply = await client.handler({ kind: "send", envelope: ENVELOPE, delivery, task: "auto" }, startCall());
        if (Symbol.asyncIterator in reply) for await (const _ of reply);
        return { request: valuesOf(sent.at(-1)), read: received.at(-1) };
      };
      const { request, read } = await requestOf("answer");
      if (request === undefined) continue;
      const streamed = await requestOf("stream").catch(() => undefined);
      const cells = { ...cellsOf(request, read), "context.stream": difference(request, streamed?.request) };
      columns.set(version, { title: `${protocol.id} ${version} (${binding})`, cells });
    } catch (thrown) {
      // A binding of sessions: this link has none.
      if (!(thrown instanceof AgentError)) throw thrown;
    } finally {
      await client.close();
    }
  }
  await served.close?.();
  return [...columns.values()];
}

/** Every value of a request, by where it is; undefined if it is not JSON. */
function valuesOf(request) {
  if (!request.headers["content-type"]?.includes("json")) return undefined;
  const values = new Map([["path", new URL(request.url, PUBLIC_URL).pathname]]);
  for (const [name, value] of new URL(request.url, PUBLIC_URL).searchParams) values.set(`query ${name}`, value);
  for (const [name, value] of Object.entries(request.headers)) walk(inHeader(value), `header ${name}`, values);
  walk(JSON.parse(Buffer.from(request.body).toString()), "", values);
  return values;
}

/** A header is a text, or JSON in base64url. */
function inHeader(value) {
  try {
    const read = JSON.parse(Buffer.from(value, "base64url").toString());
    return typeof read === "object" ? read : value;
  } catch {
    return value;
  }
}

function walk(value, path, values) {
  if (typeof value !== "object" || value === null) return values.set(path, value);
  for (const [name, each] of Object.entries(value)) walk(each, Array.isArray(value) ? `${path}[]` : pathTo(path, name), values);
}

function pathTo(path, name) {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? (path === "" ? name : `${path}.${name}`) : `${path}["${name}"]`;
}

/** A field that is on the wire and not read from it is a defect of the protocol's folder: the table is not written. */
function cellsOf(values, read) {
  const cells = {};
  const back = JSON.stringify(read);
  for (const [field, value] of Object.entries(FIELDS)) {
    const places = [...values].filter(([, found]) => holds(found, value)).map(([place]) => `\`${place}\``);
    if (places.length === 0) continue;
    if (!back.includes(JSON.stringify(value).replaceAll('"', ""))) throw new Error(`${field} is sent as ${places} and not read`);
    cells[field] = places.join(", ");
  }
  return cells;
}

function holds(found, value) {
  if (typeof found !== "string") return found === value;
  return found.includes(String(value)) || (typeof value === "number" && Date.parse(found) === value * 1000);
}

/** What a request for a stream has that the other has not. */
function difference(plain, streamed) {
  if (streamed === undefined) return "–";
  const changed = [...streamed].filter(([place, value]) => plain.get(place) !== value && !isOwn(value));
  return changed.length === 0 ? "–" : changed.map(([place, value]) => `\`${place}\`: \`${value}\``).join(", ");
}

/** Ids that each request makes anew, and lengths. */
function isOwn(value) {
  return /^[0-9a-f-]{36}$/.test(String(value)) || /^\d+$/.test(String(value));
}
