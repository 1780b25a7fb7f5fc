import { accessSync, constants } from "node:fs";

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome", "/snap/bin/chromium"] as const;

/** The browser of this machine; `KOINE_CHROMIUM` names another. Undefined if there is none. */
export function findChromium(): string | undefined {
  return [process.env["KOINE_CHROMIUM"] ?? "", ...PLACES].find(canRun);
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
