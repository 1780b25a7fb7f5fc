import { afterEach, describe, expect, it } from "vitest";
import { agent, connect, DiscoveryCache, type RemoteAgent, serve } from "../../src/index.js";
import { bearerTokens } from "../../src/public/auth.js";
import { type Protocol, protocols } from "../../src/public/protocols.js";
import { LINK_FEATURES, type LinkFeatureName } from "../../src/router/network/index.js";
import { openProtocols } from "../helpers/open-protocols.js";
import { recordingLink, type Seen } from "./recording-link.js";

const TOKEN = "a-token-of-the-wire-test";
const SESSION = "5f0c9a52-3a55-4c3e-9d86-0d6a1f5f4c11";

/** One interface, and the required evidence for each feature with a primitive in its protocol. */
interface InterfaceEvidence {
  readonly pin: string;
  readonly proofs: { readonly [name in LinkFeatureName]?: (seen: readonly Seen[]) => void };
}

/** The matching request, with its response. */
function find(seen: readonly Seen[], wanted: (each: Seen) => boolean): Seen {
  const found = seen.find(wanted);
  if (found === undefined)
    throw new Error(`not on the wire: ${JSON.stringify(seen.map(({ method, path, body }) => [method, path, body]))}`);
  return found;
}

/** How a connection is verified: by a request for an unknown task. */
const isPing = ({ body }: Seen): boolean => body.includes("koine-ping");

/** The requests that contain this text. */
const requestsWith = (seen: readonly Seen[], words: string): readonly Seen[] => seen.filter(({ body }) => body.includes(words));

const streams = ({ status, contentType, answer }: Seen, event: string): void => {
  expect([status, contentType]).toEqual([200, "text/event-stream"]);
  expect(answer.match(/^data:/gm)?.length).toBeGreaterThan(1);
  expect(answer).toContain(event);
};
const authorized = (seen: readonly Seen[], wanted: (each: Seen) => boolean): void =>
  expect(find(seen, wanted).headers["authorization"]).toBe(`Bearer ${TOKEN}`);

function rpcProofs(names: {
  stream: string;
  send: string;
  immediately: string;
  get: string;
  subscribe: string;
  artifact: string;
  snapshot: string;
}) {
  const calls =
    (method: string) =>
    (each: Seen): boolean =>
      each.path === "/a2a" && each.body.includes(`"method":"${method}"`) && !isPing(each);
  return {
    streaming: (seen: readonly Seen[]) => streams(find(seen, calls(names.stream)), names.artifact),
    "long-job": (seen: readonly Seen[]) => {
      const started = find(seen, (each) => calls(names.send)(each) && each.body.includes(names.immediately));
      expect(started.answer).toMatch(/"state":"(TASK_STATE_)?(working|WORKING|submitted|SUBMITTED)"/);
      expect(find(seen, calls(names.get)).answer).toContain('"status":{');
    },
    artifact: (seen: readonly Seen[]) =>
      expect(find(seen, calls(names.stream)).answer).toMatch(new RegExp(`${names.artifact}.*first page`)),
    "state-sync": (seen: readonly Seen[]) => {
      expect(requestsWith(seen, `"contextId":"${SESSION}"`)).toHaveLength(2);
      const taken = find(seen, calls(names.subscribe));
      streams(taken, names.snapshot);
      // The current task comes before any update of it.
      expect(taken.answer.indexOf(names.snapshot)).toBeLessThan(taken.answer.indexOf("second page"));
    },
    identity: (seen: readonly Seen[]) => {
      expect(find(seen, ({ path }) => path === "/.well-known/agent-card.json").answer).toMatch(/"securitySchemes":\{".*bearer/i);
      authorized(seen, calls(names.send));
    },
  };
}

const GRPC = "application/grpc";
const grpcCalls =
  (method: string) =>
  (each: Seen): boolean =>
    each.path.endsWith(`A2AService/${method}`) && !isPing(each);

const anpCalls =
  (method: string, more = "") =>
  (each: Seen): boolean =>
    each.path === "/anp/rpc" && each.body.includes(`"method":"${method}"`) && each.body.includes(more);

const INTERFACES: readonly InterfaceEvidence[] = [
  {
    pin: "a2a@1.0/JSONRPC",
    proofs: rpcProofs({
      stream: "SendStreamingMessage",
      send: "SendMessage",
      immediately: '"returnImmediately":true',
      get: "GetTask",
      subscribe: "SubscribeToTask",
      artifact: '"artifactUpdate"',
      snapshot: '"result":{"task"',
    }),
  },
  {
    pin: "a2a@0.3/JSONRPC",
    proofs: rpcProofs({
      stream: "message/stream",
      send: "message/send",
      immediately: '"blocking":false',
      get: "tasks/get",
      subscribe: "tasks/resubscribe",
      artifact: '"kind":"artifact-update"',
      snapshot: '"kind":"task"',
    }),
  },
  {
    pin: "a2a@1.0/GRPC",
    proofs: {
      streaming: (seen) => expect(find(seen, grpcCalls("SendStreamingMessage")).contentType).toMatch(GRPC),
      "long-job": (seen) => {
        const looked = find(seen, grpcCalls("GetTask"));
        const id = /[0-9a-f-]{36}/.exec(looked.body)?.[0] ?? "no task";
        expect([looked.contentType, looked.answer]).toEqual([expect.stringMatching(GRPC), expect.stringContaining(id)]);
        expect(find(seen, (each) => grpcCalls("SendMessage")(each) && each.answer.includes(id)).contentType).toMatch(GRPC);
      },
      artifact: (seen) => expect(find(seen, grpcCalls("SendStreamingMessage")).answer).toContain("first page"),
      "state-sync": (seen) => {
        expect(requestsWith(seen, SESSION)).toHaveLength(2);
        expect(find(seen, grpcCalls("SubscribeToTask")).answer).toContain("second page");
      },
      identity: (seen) => authorized(seen, grpcCalls("SendMessage")),
    },
  },
  {
    pin: "acp@0.2/REST",
    proofs: {
      streaming: (seen) =>
        streams(
          find(seen, ({ path, body }) => path === "/runs" && body.includes('"mode":"stream"')),
          "message.part",
        ),
      "long-job": (seen) => {
        const started = find(seen, ({ path, body }) => path === "/runs" && body.includes('"mode":"async"'));
        expect(started.status).toBe(202);
        expect(find(seen, ({ method, path }) => method === "GET" && /^\/runs\/[0-9a-f-]{36}$/.test(path)).answer).toContain(
          '"status":',
        );
      },
      artifact: (seen) => {
        const answer = find(seen, ({ path, body }) => path === "/runs" && body.includes('"mode":"stream"')).answer;
        expect(answer).toMatch(/"type":"message.part","part":\{[^}]*"name":"report"/);
      },
      "state-sync": (seen) => {
        expect(requestsWith(seen, `"session_id":"${SESSION}"`)).toHaveLength(2);
        const log = find(seen, ({ path }) => /^\/runs\/[0-9a-f-]{36}\/events$/.test(path)).answer;
        expect(log).toContain('"type":"run.created"');
        expect(log).toContain("first page");
      },
      identity: (seen) => authorized(seen, ({ method, path }) => method === "POST" && path === "/runs"),
    },
  },
  {
    pin: "anp@1.2/JSONRPC",
    proofs: {
      streaming: (seen) => streams(find(seen, anpCalls("koine.send", '"delivery":"stream"')), "koine.event"),
      "long-job": (seen) => {
        expect(find(seen, anpCalls("koine.send", '"delivery":"accepted"')).answer).toMatch(/"state":"(working|submitted)"/);
        expect(find(seen, anpCalls("koine.task.get")).answer).toContain('"status":{');
      },
      artifact: (seen) =>
        expect(find(seen, anpCalls("koine.send", '"delivery":"stream"')).answer).toMatch(/"artifact":\{.*first page/),
      "state-sync": (seen) => {
        expect(requestsWith(seen, `"sessionId":"${SESSION}"`)).toHaveLength(2);
        streams(find(seen, anpCalls("koine.task.subscribe")), '"event":{"task"');
      },
      identity: (seen) => authorized(seen, anpCalls("koine.send")),
    },
  },
  {
    pin: "agora@0.2",
    proofs: {
      "state-sync": (seen) => {
        const opened = find(seen, ({ body }) => body.includes('"multiround":true'));
        const id = /"conversationId":"([^"]+)"/.exec(opened.answer)?.[1];
        expect(id).toBeDefined();
        expect(find(seen, ({ method, path }) => method === "POST" && path.endsWith(`/conversations/${id}`)).status).toBe(200);
      },
    },
  },
];

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of open.splice(0).toReversed()) await each.close();
});

/** An agent that writes a report of two pages, the second one after its gate is opened. */
function reporter() {
  let turn: () => void = () => undefined;
  const turned = new Promise<void>((resolve) => {
    turn = resolve;
  });
  const made = agent({
    name: "reporter",
    description: "Writes reports",
    async *handle(message, task) {
      if (message.text === "hello") return "hello";
      yield task.working("begins");
      yield task.artifact("first page", { id: "r", name: "report" });
      if (message.text === "wait") await turned;
      yield task.artifact("second page", { id: "r", name: "report", append: true, last: true });
      return undefined;
    },
  });
  return { made, turn };
}

/** Uses every feature of a link, and returns the recorded traffic. */
async function traffic(protocol: Protocol, pin: string): Promise<readonly Seen[]> {
  const { made, turn } = reporter();
  const server = await serve(made, { protocols: [protocol], admission: bearerTokens(new Map([["tester", TOKEN]])) });
  open.push(server);
  const { link, seen } = recordingLink();
  open.push(link);
  const peer = await connect(server.url, { pin, link, credentials: { bearer: TOKEN }, discoveryCache: new DiscoveryCache() });
  await peer.ask("hello", { session: SESSION });
  await peer.ask("hello", { session: SESSION });
  if (!protocol.traits.tasks) return seen;
  for await (const event of peer.stream("go")) expect(event.kind).toMatch(/^(task|status|artifact|message)$/);
  await longJob(peer, turn);
  return seen;
}

async function longJob(peer: RemoteAgent, turn: () => void): Promise<void> {
  const started = await peer.start("wait");
  if (started.kind !== "task") throw new Error(`a ${started.kind} came where a task was asked for`);
  await peer.getTask(started.task.id);
  const events = peer.subscribe(started.task.id)[Symbol.asyncIterator]();
  await events.next();
  turn();
  let step = await events.next();
  while (step.done !== true) step = await events.next();
}

describe("the primitives that protocols claim", () => {
  for (const { pin, proofs } of INTERFACES) {
    const protocol = protocols.find(({ id }) => pin.startsWith(`${id}@`));
    it(`are on the wire: ${pin}`, async () => {
      if (protocol === undefined) throw new Error(`nothing speaks ${pin}`);
      // Neither a claim without evidence, nor evidence of an unclaimed feature.
      expect(Object.keys(proofs).toSorted()).toEqual(Object.keys(protocol.primitives ?? {}).toSorted());
      const seen = await traffic(protocol, pin);
      for (const prove of Object.values(proofs)) prove(seen);
    });
  }

  it("are proved for every protocol, and only for known toggles", () => {
    expect(openProtocols.filter(({ id }) => !INTERFACES.some(({ pin }) => pin.startsWith(`${id}@`)))).toEqual([]);
    const names = protocols.flatMap(({ primitives = {} }) => Object.keys(primitives));
    expect(names.length).toBeGreaterThan(0);
    expect(LINK_FEATURES).toEqual(expect.arrayContaining(names));
  });
});
