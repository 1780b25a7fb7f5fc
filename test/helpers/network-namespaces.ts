import { execFileSync, spawnSync } from "node:child_process";

/** Two hosts with one wire between them, as network namespaces joined by a veth pair. */
export interface TwoHosts {
  /** The namespaces; run programs in them with `ip netns exec`. */
  readonly near: string;
  readonly far: string;
  remove(): void;
}

export interface Wire {
  /** Of the near and the far host, with prefix length. */
  readonly near: string;
  readonly far: string;
}

const ip = (...words: readonly string[]): void => void execFileSync("ip", words, { stdio: "pipe" });

export function isIpInstalled(): boolean {
  return spawnSync("ip", ["-V"]).status === 0;
}

/** Whether namespaces can be made here. In CI they must be. */
export function namespacesAvailable(): boolean {
  const probe = `koine-probe-${process.pid}`;
  const made = isIpInstalled() && spawnSync("ip", ["netns", "add", probe]).status === 0;
  if (made) ip("netns", "del", probe);
  if (!made && process.env["CI"]) throw new Error("network namespaces cannot be made: iproute2 and root are needed");
  if (!made)
    process.stderr.write(
      "\n*** SKIPPED: network namespaces need iproute2 and root. Tests with several hosts did not run. ***\n\n",
    );
  return made;
}

/** Makes two namespaces with the given addresses on the wire between them. */
export function twoHosts(name: string, wire: readonly Wire[]): TwoHosts {
  const [near, far] = [`${name}-near`, `${name}-far`];
  const remove = (): void => {
    for (const each of [near, far]) spawnSync("ip", ["netns", "del", each]);
  };
  try {
    for (const each of [near, far]) ip("netns", "add", each);
    ip("link", "add", "wire", "netns", near, "type", "veth", "peer", "name", "wire", "netns", far);
    for (const [host, side] of [
      [near, "near"],
      [far, "far"],
    ] as const) {
      ip("-n", host, "link", "set", "lo", "up");
      ip("-n", host, "link", "set", "wire", "up");
      for (const each of wire) ip("-n", host, "addr", "add", each[side], "dev", "wire");
    }
    return { near, far, remove };
  } catch (thrown) {
    remove();
    throw thrown;
  }
}
