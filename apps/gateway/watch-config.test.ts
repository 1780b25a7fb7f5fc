import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type ConfigWatch, watchConfig } from "./watch-config.js";

describe("watchConfig", () => {
  let folder: string;
  let watching: ConfigWatch | undefined;
  let notifications = 0;
  let notified: () => void = () => undefined;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "koine-watch-"));
    notifications = 0;
  });
  afterEach(async () => {
    watching?.close();
    await rm(folder, { recursive: true, force: true });
  });

  const watch = (file: string): Promise<void> => {
    const changed = new Promise<void>((resolve) => {
      notified = resolve;
    });
    watching = watchConfig(file, () => {
      notifications++;
      notified();
    });
    return changed;
  };

  it("notifies when an editor replaces the file", async () => {
    const file = join(folder, "koine.yaml");
    await writeFile(file, "a: 1\n");
    const changed = watch(file);
    await writeFile(join(folder, "koine.yaml~"), "a: 2\n");
    await rename(join(folder, "koine.yaml~"), file);
    await changed;
    expect(notifications).toBe(1);
  });

  it("notifies when a symlinked directory on the path is swapped, as in mounted configurations", async () => {
    for (const [name, text] of [
      ["first", "a: 1\n"],
      ["second", "a: 2\n"],
    ] as const) {
      await mkdir(join(folder, name));
      await writeFile(join(folder, name, "koine.yaml"), text);
    }
    await symlink("first", join(folder, "now"));
    await symlink(join("now", "koine.yaml"), join(folder, "koine.yaml"));
    const changed = watch(join(folder, "koine.yaml"));
    await symlink("second", join(folder, "next"));
    await rename(join(folder, "next"), join(folder, "now"));
    await changed;
    expect(notifications).toBe(1);
  });

  it("ignores other files in the directory, and is not delayed by them", async () => {
    const file = join(folder, "koine.yaml");
    await writeFile(file, "a: 1\n");
    const changed = watch(file);
    const neighbour = setInterval(() => void writeFile(join(folder, "tasks.db"), String(Math.random())), 20);
    try {
      await writeFile(file, "a: 22\n");
      await changed;
      expect(notifications).toBe(1);
    } finally {
      clearInterval(neighbour);
    }
  });
});
