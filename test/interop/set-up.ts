import { spawnSync } from "node:child_process";
import { buildPeers } from "../../tools/peers.mjs";

/** Without Python the tests are skipped. In CI this is an error. */
const NO_PYTHON = 3;

/** Builds the Python environments and the compiled peers where they are missing or out of date. */
export function setup(): void {
  const { status } = spawnSync(process.execPath, ["tools/interop-env.mjs"], { stdio: "inherit" });
  if (status !== 0 && status !== NO_PYTHON) throw new Error("the Python environments for the interop tests could not be built");
  buildPeers();
}
