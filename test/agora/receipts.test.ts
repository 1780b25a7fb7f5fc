import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/envelope/index.js";
import { agent } from "../../src/server/index.js";
import { type Answered, gate, TestHost, words } from "./test-host.js";

const OURS = { koine: 1 };
const open = (body: string, metadata?: JsonObject) =>
  words(body, { multiround: true, ...(metadata === undefined ? {} : { metadata }) });

/** An agent that works until it is ended, and reports when it has started. */
function slowHost(
  answer: (task: { ask(question: string): unknown; fail(why: string): unknown }) => unknown = () => "done at last",
) {
  const begun = gate();
  const work = gate();
  const slow = agent({
    name: "slow",
    description: "takes its time",
    async handle({ text }, task) {
      if (text === "quick") return "quick";
      begun.open();
      await work.opened;
      return answer(task) as string;
    },
  });
  return { host: new TestHost([slow], { settings: { conversationMs: 3_600_000 } }), begun, work };
}

/** Sends a message, and advances the clock past its reply timeout. */
async function tooSlow({ host, begun }: ReturnType<typeof slowHost>, metadata?: JsonObject): Promise<Answered> {
  let answered: Answered | undefined;
  const asking = host.post("/", open("long", metadata)).then((answer) => {
    answered = answer;
    return answer;
  });
  await begun.opened;
  // The timer may be set slightly after the work has started.
  while (answered === undefined) {
    await new Promise(setImmediate);
    host.timers.advance(30_000);
  }
  return asking;
}

const receiptOf = ({ json }: Answered) =>
  (json["metadata"] as { readonly receipt: { readonly id: string; readonly state: string } }).receipt;
const idOf = ({ json }: Answered): string => String(json["conversationId"]);

describe("a task that outlives one reply", () => {
  it("is answered with a receipt, and collected by the next message", async () => {
    const slow = slowHost();
    const first = await tooSlow(slow);
    expect(first).toMatchObject({
      status: 200,
      json: { status: "success", body: expect.stringMatching(/^The work goes on\. Its receipt is id-\d+;/) },
    });
    const collecting = slow.host.post(`/conversations/${idOf(first)}`, open("is it done?"));
    slow.work.open();
    expect((await collecting).json).toEqual({ status: "success", body: "done at last" });
    expect((await slow.host.post(`/conversations/${idOf(first)}`, open("quick"))).json).toMatchObject({ body: "quick" });
  });

  it("gets the same receipt again while it runs", async () => {
    const slow = slowHost();
    const first = await tooSlow(slow, OURS);
    const again = await slow.host.post(`/conversations/${idOf(first)}`, open("done?", { ...OURS, prefer: "receipt" }));
    expect(receiptOf(again)).toEqual(receiptOf(first));
    expect(receiptOf(first).state).toBe("submitted");
  });

  it("may end with a question, which a later message answers", async () => {
    const slow = slowHost((task) => task.ask("And now?"));
    const first = await tooSlow(slow);
    slow.work.open();
    const path = `/conversations/${idOf(first)}`;
    expect((await slow.host.post(path, open("done?"))).json).toMatchObject({ status: "success", body: "And now?" });
    expect((await slow.host.post(path, open("quick"))).json).toMatchObject({ status: "success", body: "quick" });
  });

  it("may fail, and the next message starts a new task", async () => {
    const slow = slowHost((task) => task.fail("it broke"));
    const first = await tooSlow(slow);
    slow.work.open();
    const path = `/conversations/${idOf(first)}`;
    expect(await slow.host.post(path, open("done?"))).toMatchObject({ status: 500, json: { status: "error", body: "it broke" } });
    expect((await slow.host.post(path, open("quick"))).json).toMatchObject({ body: "quick" });
  });

  it("is waited for by a single message, which has no conversation", async () => {
    const { host, begun, work } = slowHost();
    const asking = host.post("/", words("long"));
    await begun.opened;
    host.timers.advance(60_000);
    work.open();
    expect((await asking).json).toEqual({ status: "success", body: "done at last" });
  });
});

describe("a receipt", () => {
  it("is given at once to callers that prefer one", async () => {
    const { host, work } = slowHost();
    const first = await host.post("/", open("long", { ...OURS, prefer: "receipt" }));
    expect(["submitted", "working"]).toContain(receiptOf(first).state);
    work.open();
    expect((await host.post(`/conversations/${idOf(first)}`, open("done?"))).json).toMatchObject({ body: "done at last" });
  });

  it("can be queried by its id, any number of times, by its owner only", async () => {
    const slow = slowHost();
    const first = await tooSlow(slow, OURS);
    const ask = (headers = {}) =>
      slow.host.post("/", words("", { metadata: { ...OURS, receipt: { id: receiptOf(first).id } } }), headers);
    expect(receiptOf(await ask())).toEqual({ id: receiptOf(first).id, state: "submitted" });
    slow.work.open();
    const done = await slow.host.post(`/conversations/${idOf(first)}`, open("done?"));
    expect(done.json).toMatchObject({ body: "done at last" });
    for (const _time of ["once", "twice"])
      expect((await ask()).json).toMatchObject({
        status: "success",
        body: "done at last",
        metadata: { receipt: { state: "completed" } },
      });
    expect(await ask({ "x-caller": "bob" })).toMatchObject({ status: 404, json: { metadata: { code: "task_not_found" } } });
  });

  it("cancels the task for its owner", async () => {
    const slow = slowHost();
    const { id } = receiptOf(await tooSlow(slow, OURS));
    const cancel = (headers = {}) => slow.host.post("/", { metadata: { ...OURS, cancel: id } }, headers);
    expect((await cancel({ "x-caller": "bob" })).status).toBe(404);
    expect(await cancel()).toMatchObject({
      status: 200,
      json: { body: `The work ${id} is canceled.`, metadata: { receipt: { id, state: "canceled" } } },
    });
    expect(await slow.host.post("/", { metadata: { ...OURS, receipt: { id } } })).toMatchObject({
      json: { status: "error", metadata: { code: "cancelled", receipt: { id, state: "canceled" } } },
    });
  });
});
