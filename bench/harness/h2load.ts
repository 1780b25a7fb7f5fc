import { spawnSync } from "node:child_process";

/** What nghttp2's own load tool reports. */
export interface H2LoadResult {
  readonly perSecond: number;
  /** All answers with status 2xx. */
  readonly completed: number;
}

export function hasH2load(): boolean {
  return spawnSync("h2load", ["--version"]).status === 0;
}

export function readH2load(said: string): H2LoadResult {
  const perSecond = Number(/finished in [^,]+, ([\d.]+) req\/s/.exec(said)?.[1]);
  const good = Number(/status codes: (\d+) 2xx/.exec(said)?.[1]);
  const bad = Number(/(\d+) failed, /.exec(said)?.[1]);
  if (!(perSecond > 0) || !(good > 0) || bad > 0) throw new Error(`h2load said: ${said}`);
  return { perSecond, completed: good };
}
