import { isObject, type JsonObject, type Maybe } from "../../../envelope/index.js";
import { demand, show, skip } from "../../check.js";
import type { Delivery, Hook } from "../../requirement.js";
import { KIND_FORM, MODERN_FORM, type Observed } from "./forms.js";
import {
  anyTask,
  call,
  type Probe,
  resultOf,
  runningTask,
  send,
  sendParams,
  stateOf,
  taskIdOf,
  type WireRequirement,
} from "./probe.js";
import { pushConfigIn, withTask } from "./push.js";
import { isError } from "./wire-errors.js";

const BOTH = ["1.0", "0.3"] as const;
const NEEDS = ["push", "commands"] as const;
const SOURCE = "A2A 1.0 §4.3.3";
/** The states of the agent after an answer: working, an artifact, completed. */
const PLACES: { readonly [word: string]: number } = { artifact: 1, completed: 2 };
const TOKEN = "conformance-token-0123456789";
const CREDENTIALS = "conformance-credentials-0123456789";

async function openHook({ subject }: Probe): Promise<Hook> {
  return subject.openHook === undefined
    ? skip("the agent is not on this machine, so it could not reach a webhook of this check")
    : subject.openHook();
}

/** Registers a webhook of this check. An agent may refuse loopback addresses. */
async function register(probe: Probe, taskId: string, { url }: Hook, more: JsonObject = {}): Promise<void> {
  const answer = await call(probe, "CreateTaskPushNotificationConfig", { taskId, id: "hook-1", url, ...more });
  if (answer.error === undefined) return;
  await call(probe, "CancelTask", { id: taskId });
  if (isError(answer.error, "INVALID_PARAMS")) skip(`the agent notifies no webhook on loopback: ${answer.error.message}`);
  resultOf(answer);
}

/** The form is determined by the members; whether it is the right one is a separate check. */
function seeDelivery({ text }: Delivery): Observed {
  const body: unknown = JSON.parse(text);
  return (isObject(body) && "kind" in body ? KIND_FORM : MODERN_FORM).see(body);
}

/** Waits for a notification with the state. An invalid one fails the check. */
async function notifiedOf(hook: Hook, state: string): Promise<readonly Observed[]> {
  let observed: readonly Observed[] = [];
  let wrong: unknown;
  await hook.until((deliveries) => {
    try {
      observed = deliveries.map(seeDelivery);
    } catch (thrown) {
      wrong = thrown;
    }
    return wrong !== undefined || observed.some((each) => stateOf(each) === state);
  });
  if (wrong !== undefined) throw wrong;
  return observed;
}

/** A task that is cancelled while it has a webhook. */
async function notifiedOfCancel(probe: Probe, more: JsonObject = {}): Promise<{ readonly hook: Hook; readonly id: string }> {
  const hook = await openHook(probe);
  const { id } = await runningTask(probe);
  await register(probe, id, hook, more);
  resultOf(await call(probe, "CancelTask", { id }));
  await notifiedOf(hook, "canceled");
  return { hook, id };
}

/** In 0.3 a caller lists the schemes it accepts. */
function authentication({ wire }: Probe): JsonObject {
  const scheme = wire.version === "1.0" ? { scheme: "Bearer" } : { schemes: ["Bearer"] };
  return { authentication: { ...scheme, credentials: CREDENTIALS } };
}

/** Notifications may be delivered twice; duplicates are ignored. */
function withoutRepeats(deliveries: readonly Delivery[]): readonly Delivery[] {
  return deliveries.filter(({ text }, index) => deliveries.findIndex((other) => other.text === text) === index);
}

/** Delivery of notifications. */
export const deliveryRequirements: readonly WireRequirement[] = [
  {
    key: "delivery:end",
    capability: "long-running",
    versions: BOTH,
    needs: NEEDS,
    source: SOURCE,
    behaviour: "A webhook is notified of the end of its task, by POST, and of no other task.",
    async run(probe) {
      const { hook, id } = await notifiedOfCancel(probe);
      for (const each of hook.deliveries) {
        demand(each.method === "POST", `notified by ${each.method}`);
        const about = taskIdOf(seeDelivery(each));
        demand(about === id, `notified of task ${show(about)}`);
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
      const { hook } = await notifiedOfCancel(probe);
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
    behaviour: "A notification is JSON by its content type.",
    async run(probe) {
      const { hook } = await notifiedOfCancel(probe);
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
    behaviour: "Notifications come in the order of events, and the end of the task is the last.",
    async run(probe) {
      const hook = await openHook(probe);
      const { id } = await anyTask(probe, { text: "conform: ask" });
      await register(probe, id, hook);
      await send(probe, { text: "forty-two", taskId: id });
      await notifiedOf(hook, "completed");
      const words = withoutRepeats(hook.deliveries)
        .map(seeDelivery)
        .map((each) => stateOf(each) ?? each.kind);
      const places = words.map((word) => PLACES[word] ?? 0);
      demand(
        places.every((place, index) => place >= (places[index - 1] ?? 0)),
        `notified in this order: ${words.join(", ")}`,
      );
    },
  },
  {
    key: "delivery:with-send",
    capability: "long-running",
    needs: NEEDS,
    source: "A2A 1.0 §3.2.2",
    behaviour: "A webhook in a send is notified of the task of that send.",
    async run(probe) {
      const hook = await openHook(probe);
      const configuration = { taskPushNotificationConfig: { id: "hook-1", url: hook.url } };
      const answer = await call(probe, "SendMessage", sendParams(probe, { text: "conform: task", configuration }));
      if (answer.error !== undefined && isError(answer.error, "INVALID_PARAMS"))
        return skip(`the agent notifies no webhook on loopback: ${answer.error.message}`);
      const made = probe.wire.form.see(resultOf(answer));
      const [first] = await notifiedOf(hook, "completed");
      demand(first !== undefined && taskIdOf(first) === taskIdOf(made), `notified of ${show(first?.raw)}`);
    },
  },
  {
    key: "delivery:token",
    capability: "security",
    level: "should",
    versions: BOTH,
    needs: NEEDS,
    source: "A2A 1.0 §4.3.1 names no header; these are those of the SDKs",
    behaviour: "A notification carries the token of its config, in the header that the SDKs read.",
    async run(probe) {
      const { hook } = await notifiedOfCancel(probe, { token: TOKEN });
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
    behaviour: "A notification carries the credentials of its config in Authorization.",
    async run(probe) {
      const { hook } = await notifiedOfCancel(probe, authentication(probe));
      for (const { headers } of hook.deliveries)
        demand(headers["authorization"] === `Bearer ${CREDENTIALS}`, `Authorization is ${show(headers["authorization"])}`);
    },
  },
  {
    key: "delivery:deleted",
    capability: "long-running",
    needs: NEEDS,
    source: "A2A 1.0 §3.1.10",
    behaviour: "A webhook whose config was deleted is not notified any more; others are.",
    async run(probe) {
      const [gone, kept] = [await openHook(probe), await openHook(probe)];
      const { id } = await runningTask(probe);
      await register(probe, id, gone, { id: "gone" });
      await register(probe, id, kept, { id: "kept" });
      resultOf(await call(probe, "DeleteTaskPushNotificationConfig", { taskId: id, id: "gone" }));
      resultOf(await call(probe, "CancelTask", { id }));
      await notifiedOf(kept, "canceled");
      const late = gone.deliveries.filter((each) => stateOf(seeDelivery(each)) === "canceled");
      demand(late.length === 0, "the deleted webhook was notified of the end");
    },
  },
  {
    key: "push:no-secrets",
    capability: "security",
    level: "should",
    versions: BOTH,
    needs: ["push"],
    source: "A2A 1.0 §4.3.1 leaves it open: a secret is for the webhook, not for readers of the config",
    behaviour: "A config contains neither its token nor its credentials when read.",
    run: (probe) =>
      withTask(probe, async (taskId) => {
        const secrets = { token: TOKEN, ...authentication(probe) };
        const params = { taskId, id: "c-5", url: "https://hooks.example.com/conformance", ...secrets };
        resultOf(await call(probe, "CreateTaskPushNotificationConfig", params));
        const read = pushConfigIn(resultOf(await call(probe, "GetTaskPushNotificationConfig", { taskId, id: "c-5" })));
        const leaked: Maybe<string> = [TOKEN, CREDENTIALS].find((secret) => JSON.stringify(read).includes(secret));
        demand(leaked === undefined, `the config shows ${show(leaked)}`);
      }),
  },
];
