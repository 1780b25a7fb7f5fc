import { accessSync, constants } from "node:fs";

/** Chromium without a user interface: a page costs a third of the CPU time. */
const SHELL = "/usr/bin/chromium-headless-shell";
const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome", "/snap/bin/chromium"] as const;

/** The browser of this machine; `KOINE_CHROMIUM` names another. Undefined if there is none. */
export function findChromium(): string | undefined {
  return [process.env["KOINE_CHROMIUM"] ?? "", SHELL, ...PLACES].find(canRun);
}

export function isShellInstalled(): boolean {
  return canRun(SHELL);
}

function canRun(path: string): boolean {
  if (path === "") return false;
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
