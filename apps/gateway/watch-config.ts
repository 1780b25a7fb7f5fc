import { statSync, watch } from "node:fs";
import { basename, dirname, resolve } from "node:path";

/** Debounce: editors write in several steps. */
const SETTLE_MS = 200;

/** A running file watch. */
export interface ConfigWatch {
  close(): void;
}

/**
 * Calls `changed` when a file is written, replaced or restored. Watches the directory, not the file: editors rename a new
 * file over the old one. Any event in the directory triggers a check, because the target of a symlink may change without an
 * event for the link. `read` is the revision that was read: a change between reading and watching is reported too. Throws if
 * the system cannot watch.
 */
export function watchConfig(file: string, changed: () => void, read: ConfigRevision = configRevision(file)): ConfigWatch {
  const path = resolve(file);
  const name = basename(path);
  let known = read;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const check = (): void => {
    timer = undefined;
    const current = configRevision(path);
    // A missing file may be about to return; until then the old configuration stays.
    if (current === undefined || current === known) return;
    known = current;
    changed();
  };
  const watcher = watch(dirname(path), { persistent: false }, (_event, touched) => {
    // Only events of the file itself extend the delay: others in the directory may never stop.
    if (touched === name) clearTimeout(timer);
    if (touched === name || timer === undefined) timer = setTimeout(check, SETTLE_MS);
  });
  timer = setTimeout(check, SETTLE_MS);
  // A deleted directory cannot be watched; SIGHUP still works.
  watcher.on("error", () => watcher.close());
  return {
    close() {
      clearTimeout(timer);
      watcher.close();
    },
  };
}

/** Changes with every write to the file or its link target; undefined for a missing file. */
export type ConfigRevision = string | undefined;
/** The current revision of a configuration file. */
export function configRevision(path: string): ConfigRevision {
  const facts = statSync(path, { bigint: true, throwIfNoEntry: false });
  return facts && [facts.dev, facts.ino, facts.size, facts.mtimeNs].join(" ");
}
