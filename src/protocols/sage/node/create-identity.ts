import { basename } from "node:path";
import { writeNewIdentity } from "../../../security/identity/index.js";
import type { IdentityRegistration } from "../../identity-registration.js";
import { createSageIdentity } from "../identity/own-identity.js";
import { EmbeddedRegistry } from "../registry/embedded.js";
import { Registrar } from "./registrar.js";

/** A `did:sage` in a new file, registered in the embedded registry of the records. */
export async function createIdentity(file: string, { endpoint, records }: IdentityRegistration): Promise<void> {
  await writeNewIdentity(file, await createSageIdentity(identityName(file), "local", "sage"));
  const registrar = await Registrar.open(file, ({ network }) => new EmbeddedRegistry(records, { network, now: Date.now }));
  await registrar.register(endpoint);
}

/** Identities are named after their files. */
export function identityName(file: string): string {
  return basename(file).replace(/\.[^.]*$/, "");
}
