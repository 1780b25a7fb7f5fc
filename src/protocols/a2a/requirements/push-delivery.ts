import { isObject, type JsonObject, type Maybe } from "../../../envelope/index.js";
import { demand, show, skip } from "../../duty.js";
import type { Delivery, Hook } from "../../requirement.js";
import { KIND_FORM, MODERN_FORM, type Seen } from "./forms.js";
import { anyTask, call, type Probe, resultOf, runningTask, send, sendParams, stateOf, taskIdOf, type WireDuty } from "./probe.js";
import { pushConfigIn, withTask } from "./push.js";
import { isError } from "./wire-errors.js";

const BOTH = ["1.0", "0.3"] as const;
const NEEDS = ["push", "commands"] as const;
const SOURCE = "A2A 1.0 §4.3.3";
/** What the agent does with an answer: it works, makes an artifact, and is done. */
const PLACES: { readonly [word: string]: number } = { artifact: 1, completed: 2 };
const TOKEN = "conformance-token-0123456789";
const CREDENTIALS = "conformance-credentials-0123456789";

async function openHook({ subject }: Probe): Promise<Hook> {
  return subject.openHook === undefined
    ? skip("the agent is not on this machine, so it could not reach a webhook of ours")
    : subject.openHook();
}

/** Registers a webhook of ours. An agent may refuse to tell anybody on loopback, and is right to. */
async function register(probe: Probe, taskId: string, { url }: Hook, more: JsonObject = {}): Promise<void> {
  const answer = await call(probe, "CreateTaskPushNotificationConfig", { taskId, id: "hook-1", url, ...more });
  if (answer.error === undefined) return;
  await call(probe, "CancelTask", { id: taskId });
  if (isError(answer.error, "INVALID_PARAMS")) skip(`the agent tells no webhook on loopback: ${answer.error.message}`);
  resultOf(answer);
}

/** The members tell the forms apart; which one was due is a check of its own. */
function seeDelivery({ text }: Delivery): Seen {
  const body: unknown = JSON.parse(text);
  return (isObject(body) && "kind" in body ? KIND_FORM : MODERN_FORM).see(body);
}

/** Waits until a notification shows the state; one that cannot be read ends the wait and the check. */
async function told(hook: Hook, state: string): Promise<readonly Seen[]> {
  let seen: readonly Seen[] = [];
  let wrong: unknown;
  await hook.until((deliveries) => {
    try {
      seen = deliveries.map(seeDelivery);
    } catch (thrown) {
      wrong = thrown;
    }
    return wrong !== undefined || seen.some((each) => stateOf(each) === state);
  });
  if (wrong !== undefined) throw wrong;
  return seen;
}

/** A task that is cancelled while a webhook is told of it. */
async function toldOfCancel(probe: Probe, more: JsonObject = {}): Promise<{ readonly hook: Hook; readonly id: string }> {
  const hook = await openHook(probe);
  const { id } = await runningTask(probe);
  await register(probe, id, hook, more);
  resultOf(await call(probe, "CancelTask", { id }));
  await told(hook, "canceled");
  return { hook, id };
}

/** In 0.3 a caller lists the schemes it would take. */
function authentication({ wire }: Probe): JsonObject {
  const scheme = wire.version === "1.0" ? { scheme: "Bearer" } : { schemes: ["Bearer"] };
  return { authentication: { ...scheme, credentials: CREDENTIALS } };
}

/** A webhook may be told twice: what it has heard already says nothing new. */
function withoutRepeats(deliveries: readonly Delivery[]): readonly Delivery[] {
  return deliveries.filter(({ text }, index) => deliveries.findIndex((other) => other.text === text) === index);
}

/** What reaches a webhook, and what does not. */
export const deliveryDuties: readonly WireDuty[] = [
  {
    key: "delivery:end",
    capability: "long-running",
    versions: BOTH,
    needs: NEEDS,
    source: SOURCE,
    behaviour: "A webhook is told of the end of its task, by POST, and of no other task.",
    async run(probe) {
      const { hook, id } = await toldOfCancel(probe);
      for (const each of hook.deliveries) {
        demand(each.method === "POST", `told by ${each.method}`);
        const about = taskIdOf(seeDelivery(each));
        demand(about === id, `told of task ${show(about)}`);
      }
    },
  },
  {
    key: "delivery:form",
    capability: "long-running",
    versions: BOTH,
    needs: NEEDS,
    source: "A2A 1.0 §4.3.3; in 0.3 what its SDKs send and read",
    behaviour:
      "A notification is written for the version that registered its webhook: a StreamResponse, or an object with its kind.",
    async run(probe) {
      const { hook } = await toldOfCancel(probe);
      const form = probe.wire.version === "1.0" ? MODERN_FORM : KIND_FORM;
      for (const { text } of hook.deliveries) form.see(JSON.parse(text));
    },
  },
  {
    key: "delivery:media-type",
    capability: "long-running",
    versions: BOTH,
    needs: NEEDS,
    source: SOURCE,
    behaviour: "A notification says by its content type that it is JSON.",
    async run(probe) {
      const { hook } = await toldOfCancel(probe);
      for (const { headers } of hook.deliveries)
        demand(
          /^application\/(a2a\+)?json\b/.test(headers["content-type"] ?? ""),
          `content-type is ${show(headers["content-type"])}`,
        );
    },
  },
  {
    key: "delivery:order",
    capability: "long-running",
    versions: BOTH,
    needs: NEEDS,
    source: "A2A 1.0 §3.5.2, §4.3.3",
    behaviour: "Notifications come in the order of what happened, and the end of the task is the last of them.",
    async run(probe) {
      const hook = await openHook(probe);
      const { id } = await anyTask(probe, { text: "conform: ask" });
      await register(probe, id, hook);
      await send(probe, { text: "forty-two", taskId: id });
      await told(hook, "completed");
      const words = withoutRepeats(hook.deliveries)
        .map(seeDelivery)
        .map((each) => stateOf(each) ?? each.kind);
      const places = words.map((word) => PLACES[word] ?? 0);
      demand(
        places.every((place, index) => place >= (places[index - 1] ?? 0)),
        `told in this order: ${words.join(", ")}`,
      );
    },
  },
  {
    key: "delivery:with-send",
    capability: "long-running",
    needs: NEEDS,
    source: "A2A 1.0 §3.2.2",
    behaviour: "A webhook that comes with a send is told of the task the send makes.",
    async run(probe) {
      const hook = await openHook(probe);
      const configuration = { taskPushNotificationConfig: { id: "hook-1", url: hook.url } };
      const answer = await call(probe, "SendMessage", sendParams(probe, { text: "conform: task", configuration }));
      if (answer.error !== undefined && isError(answer.error, "INVALID_PARAMS"))
        return skip(`the agent tells no webhook on loopback: ${answer.error.message}`);
      const made = probe.wire.form.see(resultOf(answer));
      const [first] = await told(hook, "completed");
      demand(first !== undefined && taskIdOf(first) === taskIdOf(made), `told of ${show(first?.raw)}`);
    },
  },
  {
    key: "delivery:token",
    capability: "security",
    level: "should",
    versions: BOTH,
    needs: NEEDS,
    source: "A2A 1.0 §4.3.1 names no header; these are those of the SDKs",
    behaviour: "A notification brings the token of its config, in the header that the SDKs read.",
    async run(probe) {
      const { hook } = await toldOfCancel(probe, { token: TOKEN });
      for (const { headers } of hook.deliveries) {
        const token = headers["x-a2a-notification-token"] ?? headers["a2a-notification-token"];
        demand(token === TOKEN, `the token is ${show(token)}`);
      }
    },
  },
  {
    key: "delivery:authorization",
    capability: "security",
    needs: NEEDS,
    source: SOURCE,
    behaviour: "A notification brings the credentials of its config in Authorization.",
    async run(probe) {
      const { hook } = await toldOfCancel(probe, authentication(probe));
      for (const { headers } of hook.deliveries)
        demand(headers["authorization"] === `Bearer ${CREDENTIALS}`, `Authorization is ${show(headers["authorization"])}`);
    },
  },
  {
    key: "delivery:deleted",
    capability: "long-running",
    needs: NEEDS,
    source: "A2A 1.0 §3.1.10",
    behaviour: "A webhook whose config was deleted is told nothing more, and the others are.",
    async run(probe) {
      const [gone, kept] = [await openHook(probe), await openHook(probe)];
      const { id } = await runningTask(probe);
      await register(probe, id, gone, { id: "gone" });
      await register(probe, id, kept, { id: "kept" });
      resultOf(await call(probe, "DeleteTaskPushNotificationConfig", { taskId: id, id: "gone" }));
      resultOf(await call(probe, "CancelTask", { id }));
      await told(kept, "canceled");
      const late = gone.deliveries.filter((each) => stateOf(seeDelivery(each)) === "canceled");
      demand(late.length === 0, "the deleted webhook was told of the end");
    },
  },
  {
    key: "push:no-secrets",
    capability: "security",
    level: "should",
    versions: BOTH,
    needs: ["push"],
    source: "A2A 1.0 §4.3.1 leaves it open: a secret is for the webhook, not for readers of the config",
    behaviour: "A config that is read shows neither its token nor its credentials.",
    run: (probe) =>
      withTask(probe, async (taskId) => {
        const secrets = { token: TOKEN, ...authentication(probe) };
        const params = { taskId, id: "c-5", url: "https://hooks.example.com/conformance", ...secrets };
        resultOf(await call(probe, "CreateTaskPushNotificationConfig", params));
        const read = pushConfigIn(resultOf(await call(probe, "GetTaskPushNotificationConfig", { taskId, id: "c-5" })));
        const told: Maybe<string> = [TOKEN, CREDENTIALS].find((secret) => JSON.stringify(read).includes(secret));
        demand(told === undefined, `the config shows ${show(told)}`);
      }),
  },
];
