import { readStoreKeys } from "../../src/internal.js";
import { createStoreKeys, rotateStoreKeys, type StoreKeys } from "../../src/public/identity.js";
import { createOutput, type Format } from "./output.js";

interface OutputOptions {
  readonly output: Format;
}

/** `koine store-keys create`. */
export async function createKeyFile(file: string, options: OutputOptions): Promise<void> {
  await show(await createStoreKeys(file), options);
}

/** `koine store-keys show`. */
export async function showKeyFile(file: string, options: OutputOptions): Promise<void> {
  await show(await readStoreKeys(file), options);
}

/** `koine store-keys rotate`. */
export async function rotateKeyFile(file: string, options: OutputOptions): Promise<void> {
  await show(await rotateStoreKeys(file), options);
}

/** Names and dates, never a key. */
async function show(keys: StoreKeys, options: OutputOptions): Promise<void> {
  const output = createOutput(options.output);
  const listed = keys.list().map(({ id, created, usedFrom }) => ({
    id,
    created: new Date(created).toISOString(),
    usedFrom: new Date(usedFrom).toISOString(),
  }));
  if (output.format === "json") await output.document({ keys: listed });
  else await output.text(listed.map(({ id, usedFrom }) => `${id}  used from ${usedFrom}\n`).join(""));
}
