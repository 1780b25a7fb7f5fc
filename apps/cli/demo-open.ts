import { spawn } from "node:child_process";

/** What opens an address in a browser, on each system; no shell takes part. */
const OPENERS: { readonly [platform: string]: readonly [program: string, ...args: string[]] } = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
  linux: ["xdg-open"],
};

/** Shows the page where there is something to show it on. That it cannot is no failure: the address stands in the terminal. */
export function openPage(url: string): void {
  const opener = OPENERS[process.platform];
  const hasDisplay =
    process.platform !== "linux" || process.env["DISPLAY"] !== undefined || process.env["WAYLAND_DISPLAY"] !== undefined;
  if (opener === undefined || !hasDisplay) return;
  const [program, ...args] = opener;
  const child = spawn(program, [...args, url], { stdio: "ignore", detached: true, shell: false });
  child.once("error", () => undefined);
  child.unref();
}
