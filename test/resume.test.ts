import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { agent, connect, type Server, serve } from "../src/index.js";
import { bearerTokens } from "../src/public/auth.js";

/** The two extensions as a plain HTTP client sees them on the wire. */

const NUMBERS = 6;
const TOKENS = new Map([
  ["ann", "ann-token-0123456789"],
  ["bob", "bob-token-0123456789"],
]);
const MESSAGE = { messageId: "m-1", role: "ROLE_USER", parts: [{ text: "count" }] };

interface Seen {
  readonly id: string;
  readonly data: unknown;
}

let server: Server;
let runs = 0;
/** Where the agent waits in the middle; opened once for each run. */
let gate = makeGate();

function makeGate(): { readonly opened: Promise<void>; open(): void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

beforeAll(async () => {
  const counter = agent({
    name: "counter",
    description: "Counts, and waits in the middle",
    async *handle(_message, task) {
      runs += 1;
      yield task.working();
      for (let number = 0; number < NUMBERS; number++) {
        yield task.artifact(`${number} `, { id: "count", append: number > 0, last: number === NUMBERS - 1 });
        if (number === 2) await gate.opened;
        else await new Promise((resolve) => setImmediate(resolve));
      }
    },
  });
  server = await serve(counter, { admission: bearerTokens(TOKENS), taskLimits: { idempotencyKeepMs: 7_200_000 } });
});
afterAll(() => server.close());

function post(path: string, body: unknown, headers: Readonly<Record<string, string>> = {}, token = "ann"): Promise<Response> {
  return fetch(`${server.url}/a2a${path}`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "a2a-version": "1.0",
      authorization: `Bearer ${TOKENS.get(token)}`,
      ...headers,
    },
    body: JSON.stringify(body),
  });
}

/** The events of a stream until `enough` holds; then the connection is cut. */
async function read(response: Response, enough: (seen: readonly Seen[]) => boolean = () => false): Promise<readonly Seen[]> {
  const seen: Seen[] = [];
  let text = "";
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const decoder = new TextDecoder();
  for (let step = await reader.read(); !step.done; step = await reader.read()) {
    text += decoder.decode(step.value, { stream: true });
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      const block = text.slice(0, end);
      text = text.slice(end + 2);
      const data = /^data: ?(.*)$/m.exec(block)?.[1];
      if (data !== undefined) seen.push({ id: /^id: ?(.*)$/m.exec(block)?.[1] ?? "", data: JSON.parse(data) });
      if (enough(seen)) {
        await reader.cancel();
        return seen;
      }
    }
  }
  return seen;
}

/** The count of an event: a snapshot's whole text, or one more number. */
function countIn({ data }: Seen): string {
  const whole = JSON.stringify(data);
  const texts = [...whole.matchAll(/"text":"(\d+ )"/g)].map(([, text]) => text);
  const state = /"state":"TASK_STATE_([A-Z_]+)"/.exec(whole)?.[1] ?? "";
  return "task" in (data as object) ? `task ${texts.join("")}${state}` : texts.join("") || state;
}

/** A stream that was cut after the number 2, and the cursor of its reader. */
async function cutStream(): Promise<{ readonly taskId: string; readonly cursor: string }> {
  gate = makeGate();
  const seen = await read(await post("/message:stream", { message: MESSAGE }), (events) =>
    events.some((each) => countIn(each) === "1 "),
  );
  const taskId = /"task":\{"id":"([^"]+)"/.exec(JSON.stringify(seen))?.[1] ?? "";
  return { taskId, cursor: seen.at(-1)?.id ?? "" };
}

const REST = ["2 ", "3 ", "4 ", "5 ", "COMPLETED"];

describe("a stream that was cut", () => {
  test.each([
    ["by subscribing", (taskId: string) => [`/tasks/${taskId}:subscribe`, {}] as const],
    ["by asking for the stream of the send once more", () => ["/message:stream", { message: MESSAGE }] as const],
  ])("is resumed %s: the task as it was, then the rest, and nothing is sent twice", async (_how, again) => {
    const before = runs;
    const { taskId, cursor } = await cutStream();
    const [path, body] = again(taskId);
    const resuming = read(await post(path, body, { "last-event-id": cursor, "a2a-extensions": "urn:koine:resume:1" }));
    gate.open();
    const rest = await resuming;
    expect(rest.map(countIn)).toEqual(["task 0 1 WORKING", ...REST]);
    expect(runs).toBe(before + 1);
  });

  test("of a task that has ended meanwhile yields the rest and ends", async () => {
    const { taskId, cursor } = await cutStream();
    gate.open();
    await read(await post(`/tasks/${taskId}:subscribe`, {}, { "last-event-id": cursor }));
    const late = await read(await post(`/tasks/${taskId}:subscribe`, {}, { "last-event-id": cursor }));
    expect(late.map(countIn)).toEqual(["task 0 1 WORKING", ...REST]);
    expect(await (await post(`/tasks/${taskId}:subscribe`, {})).json()).toMatchObject({
      error: { details: [{ reason: "UNSUPPORTED_OPERATION" }] },
    });
  });

  test("is not found by other callers, and an invalid cursor is refused", async () => {
    const { taskId, cursor } = await cutStream();
    for (const path of [`/tasks/${taskId}:subscribe`, "/message:stream"]) {
      const foreign = await post(path, { message: MESSAGE }, { "last-event-id": cursor }, "bob");
      expect([foreign.status, await foreign.json()]).toMatchObject([404, { error: { details: [{ reason: "TASK_NOT_FOUND" }] } }]);
      const made = await post(path, { message: MESSAGE }, { "last-event-id": "no cursor at all" });
      expect(made.status).toBe(400);
    }
    gate.open();
  });

  test("answers with the extension that was used", async () => {
    const { taskId, cursor } = await cutStream();
    gate.open();
    const response = await post(
      `/tasks/${taskId}:subscribe`,
      {},
      { "last-event-id": cursor, "a2a-extensions": "urn:koine:resume:1" },
    );
    expect(response.headers.get("a2a-extensions")).toBe("urn:koine:resume:1");
    await response.body?.cancel();
  });
});

describe("the card", () => {
  test("declares both extensions, never required, and how long a key is remembered", async () => {
    const response = await fetch(`${server.url}/.well-known/agent-card.json`);
    const { capabilities } = (await response.json()) as { capabilities: { extensions: unknown } };
    expect(capabilities.extensions).toEqual(
      expect.arrayContaining([
        { uri: "urn:koine:idempotent-send:1", params: { windowSeconds: 7200 } },
        { uri: "urn:koine:resume:1" },
      ]),
    );
    const peer = await connect(server.url, { credentials: { bearer: "ann-token-0123456789" } });
    expect(peer.card.capabilities).toMatchObject({ idempotentSend: true, idempotencyWindowMs: 7_200_000, resume: true });
    await peer.close();
  });
});
