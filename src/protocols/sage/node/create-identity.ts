import { basename } from "node:path";
import { writeNewIdentity } from "../../../security/identity/index.js";
import type { IdentityRegistration } from "../../identity-registration.js";
import { EvmRegistry } from "../chain/evm-registry.js";
import { checkedSageDid } from "../identity/did-sage.js";
import { createSageIdentity } from "../identity/own-identity.js";
import { EmbeddedRegistry } from "../registry/embedded.js";
import { readSettings } from "../settings.js";
import { Registrar } from "./registrar.js";

/** A `did:sage` in a new file, registered on the development chain of the settings or in the embedded registry of the records. */
export async function createIdentity(file: string, { endpoint, records, settings }: IdentityRegistration): Promise<void> {
  const identity = await createSageIdentity(identityName(file), "local", "sage");
  await writeNewIdentity(file, identity);
  const { chain } = readSettings(settings);
  if (chain === undefined) {
    const registrar = await Registrar.open(file, ({ network }) => new EmbeddedRegistry(records, { network, now: Date.now }));
    await registrar.register(endpoint);
    return;
  }
  const registry = new EvmRegistry({ ...chain, network: "local" });
  try {
    await registry.fund(checkedSageDid(identity.did).account);
    await (await Registrar.open(file, () => registry)).register(endpoint);
  } finally {
    await registry.close();
  }
}

/** Identities are named after their files. */
export function identityName(file: string): string {
  return basename(file).replace(/\.[^.]*$/, "");
}
