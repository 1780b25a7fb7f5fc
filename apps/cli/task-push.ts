import { AgentError, type JsonObject, type PushConfig } from "../../src/index.js";
import { CliError, EXIT, usageError } from "./exit.js";
import { checkedAddress, type PeerOptions, visit } from "./peer.js";
import { oneLine } from "./printable.js";

interface SetOptions extends PeerOptions {
  readonly id?: string;
  readonly hookTokenEnv?: string;
  readonly hookBearerEnv?: string;
}

export async function listPushes(url: string, id: string, options: PeerOptions): Promise<void> {
  await visit(url, options, async ({ peer, output, interrupt }) => {
    const configs = await peer.pushes(id, { signal: interrupt.signal });
    if (output.format === "json") return output.document({ pushes: configs.map(pushJson) });
    for (const config of configs) await output.text(pushLine(config));
    if (configs.length === 0) output.say("Nobody is told of this task.");
  });
}

export async function setPush(url: string, id: string, webhook: string, options: SetOptions): Promise<void> {
  const token = secretIn("--hook-token-env", options.hookTokenEnv);
  const credentials = secretIn("--hook-bearer-env", options.hookBearerEnv);
  const hook = {
    url: checkedAddress(webhook),
    token,
    authentication: credentials === undefined ? undefined : { scheme: "Bearer", credentials },
    ...(options.id === undefined ? {} : { id: options.id }),
  };
  await visit(url, options, async ({ peer, output, interrupt }) => {
    const config = await peer.setPush(id, hook, { signal: interrupt.signal }).catch(refusedAddress);
    if (output.format === "json") return output.document(pushJson(config));
    return output.text(pushLine(config));
  });
}

export async function deletePush(url: string, id: string, webhookId: string, options: PeerOptions): Promise<void> {
  await visit(url, options, async ({ peer, output, interrupt }) => {
    await peer.deletePush(id, webhookId, { signal: interrupt.signal });
    if (output.format === "json") return output.document({ deleted: webhookId });
    return output.text(`${oneLine(webhookId, 200)} deleted\n`);
  });
}

/** An address that the agent does not tell is one its operator can allow. */
function refusedAddress(thrown: unknown): never {
  if (thrown instanceof AgentError && thrown.code === "invalid_message" && /only public ones are told/.test(thrown.message))
    throw new CliError(EXIT.failure, thrown.message, {
      code: thrown.code,
      hint: "If it may be told, whoever runs the agent allows it: koine serve … --push-allow HOST",
    });
  throw thrown;
}

/** Command lines are seen by everybody on the machine, so a secret comes from the environment only. */
function secretIn(option: string, name: string | undefined): string | undefined {
  if (name === undefined) return undefined;
  const secret = process.env[name]?.trim();
  if (secret === undefined || secret === "")
    throw usageError(`${option} names ${name}, and that variable is not set`, `Set it: export ${name}=…`);
  return secret;
}

/** Without its secrets, whatever the agent gave back. */
function pushJson({ id, taskId, url, authentication, delivery }: PushConfig): JsonObject {
  return {
    id,
    task_id: taskId,
    url,
    ...(authentication === undefined ? {} : { scheme: authentication.scheme }),
    ...(delivery === undefined ? {} : { delivery: deliveryJson(delivery) }),
  };
}

function deliveryJson({ state, seq, failures, nextAt, problem }: NonNullable<PushConfig["delivery"]>): JsonObject {
  return {
    state,
    seq,
    failures,
    ...(nextAt === undefined ? {} : { next_at: new Date(nextAt).toISOString() }),
    ...(problem === undefined ? {} : { problem }),
  };
}

/** Id, state, the last entry that was accepted, address, and what went wrong. */
function pushLine({ id, url, delivery }: PushConfig): string {
  const fields = [oneLine(id, 200), delivery?.state ?? "-", String(delivery?.seq ?? "-"), oneLine(url, 500), troubleOf(delivery)];
  return `${fields.join("\t").trimEnd()}\n`;
}

function troubleOf(delivery: PushConfig["delivery"]): string {
  if (delivery?.problem === undefined) return "";
  const next = delivery.nextAt === undefined ? "" : `, next try at ${new Date(delivery.nextAt).toISOString()}`;
  return `${oneLine(delivery.problem, 200)} (${delivery.failures} ${delivery.failures === 1 ? "try" : "tries"}${next})`;
}
