import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { createStoreKeys, openStoreSeal } from "../../../src/security/at-rest/index.js";

/** A folder of its own with files of store keys, removed after the tests of a file. */
export function storeKeyFolder() {
  const folder = mkdtempSync(join(tmpdir(), "koine-store-keys-")); // mode 700
  let files = 0;
  afterAll(() => rmSync(folder, { recursive: true }));
  return {
    folder,
    async newFile(now?: () => number): Promise<string> {
      files += 1;
      const file = join(folder, `${files}.store-keys`);
      await createStoreKeys(file, now);
      return file;
    },
    /** A seal with a key of its own. */
    async newSeal() {
      return openStoreSeal(await this.newFile());
    },
  };
}
