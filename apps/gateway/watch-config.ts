import { statSync, watch } from "node:fs";
import { basename, dirname, resolve } from "node:path";

/** Editors write in several steps; this long after the last of them the file is looked at. */
const SETTLE_MS = 200;

export interface ConfigWatch {
  close(): void;
}

/**
 * Tells when a file was written, replaced or put back. The folder is watched and not the file: editors write a new file
 * and rename it, and what was watched would be gone. Where the name is a link, what it leads to may change while the name
 * is never touched, so whatever happens in the folder is a reason to look. `read` is the mark of the file as it was read: what
 * happened between the reading and the watching is told too. Throws where the system cannot watch.
 */
export function watchConfig(file: string, changed: () => void, read: ConfigMark = markOf(file)): ConfigWatch {
  const path = resolve(file);
  const name = basename(path);
  let known = read;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const look = (): void => {
    timer = undefined;
    const mark = markOf(path);
    // A file that is gone may be on its way back; until then the old configuration holds.
    if (mark === undefined || mark === known) return;
    known = mark;
    changed();
  };
  const watcher = watch(dirname(path), { persistent: false }, (_event, touched) => {
    // Only the file's own steps put the look off: others in its folder may never rest.
    if (touched === name) clearTimeout(timer);
    if (touched === name || timer === undefined) timer = setTimeout(look, SETTLE_MS);
  });
  timer = setTimeout(look, SETTLE_MS);
  // A folder that goes away cannot be watched; SIGHUP still works.
  watcher.on("error", () => watcher.close());
  return {
    close() {
      clearTimeout(timer);
      watcher.close();
    },
  };
}

/** What is different after every write, wherever the name leads; undefined for a file that is not there. */
export type ConfigMark = string | undefined;
export function markOf(path: string): ConfigMark {
  const facts = statSync(path, { bigint: true, throwIfNoEntry: false });
  return facts && [facts.dev, facts.ino, facts.size, facts.mtimeNs].join(" ");
}
