import { resolve } from "node:path";
import type { Maybe } from "../../src/index.js";
import { storeKeysFileOf } from "../../src/internal.js";
import { openIdentity, openStoreSeal } from "../../src/public/identity.js";
import { protocols } from "../../src/public/protocols.js";
import type { OpenContentSeal } from "../../src/public/stores.js";
import type { GatewayConfig } from "./config.js";

/** The seal of the tasks in the store: if it is configured, or a protocol of the identity expects it. */
export async function storeSealOf(
  { document, folder }: GatewayConfig,
  notify: (line: string) => void,
): Promise<Maybe<OpenContentSeal>> {
  const { store = "memory", identity } = document;
  if (store === "memory" || store.seal === false) return undefined;
  const file = store.seal === undefined ? await keysBeside(identity && resolve(folder, identity)) : resolve(folder, store.seal);
  if (file === undefined) return undefined;
  return openStoreSeal(file, {
    create: true,
    acceptsClear: store.acceptUnsealed,
    onProblem: ({ message }) => notify(`Store keys cannot be read again; still using the previous ones: ${message}`),
    onRefused: (taskId, problem) => notify(`Task ${taskId} refused: its content in the store ${problem}`),
  });
}

async function keysBeside(identityFile: Maybe<string>): Promise<Maybe<string>> {
  if (identityFile === undefined) return undefined;
  const identity = await openIdentity(identityFile);
  return protocols.some(({ sealsStore }) => sealsStore?.(identity) === true) ? storeKeysFileOf(identityFile) : undefined;
}
