import { type FSWatcher, watch } from "node:fs";
import { basename, dirname, resolve } from "node:path";

/** Editors write in several steps; this long after the last of them the file is read. */
const SETTLE_MS = 200;

export interface ConfigWatch {
  close(): void;
}

/**
 * Tells when a file was written, replaced or put back. The folder is watched and not the file: editors write a new file
 * and rename it, and what was watched would be gone.
 */
export function watchConfig(file: string, changed: () => void): ConfigWatch {
  const name = basename(file);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const settle = (): void => {
    clearTimeout(timer);
    timer = setTimeout(changed, SETTLE_MS);
  };
  const watcher: FSWatcher = watch(dirname(resolve(file)), { persistent: false }, (_event, touched) => {
    // Some systems do not say which file it was.
    if (touched === null || touched === name) settle();
  });
  // A folder that goes away cannot be watched; SIGHUP still works.
  watcher.on("error", () => watcher.close());
  return {
    close() {
      clearTimeout(timer);
      watcher.close();
    },
  };
}
