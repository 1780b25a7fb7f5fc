import { execFile, spawnSync } from "node:child_process";

/** One POST, again and again over HTTP/2, by nghttp2's own load tool: a client in C costs less than any server it measures. */
export interface H2Load {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** A file with the body. */
  readonly body: string;
  readonly connections: number;
  readonly seconds: number;
  readonly core: number | undefined;
}

export interface H2LoadResult {
  readonly perSecond: number;
  /** All answers with status 2xx. */
  readonly completed: number;
}

export function hasH2load(): boolean {
  return spawnSync("h2load", ["--version"]).status === 0;
}

export async function runH2load({ url, headers, body, connections, seconds, core }: H2Load): Promise<H2LoadResult> {
  const fields = Object.entries(headers).flatMap(([name, value]) => ["-H", `${name}: ${value}`]);
  const argv = ["h2load", "-t1", `-c${connections}`, "-m1", `-D${seconds}`, "-d", body, ...fields, url];
  const [command = "", ...rest] = core === undefined ? argv : ["taskset", "-c", String(core), ...argv];
  const said = await new Promise<string>((resolve, reject) => {
    execFile(command, rest, (failed, stdout) => (failed === null ? resolve(stdout) : reject(failed)));
  });
  return readH2load(said);
}

export function readH2load(said: string): H2LoadResult {
  const perSecond = Number(/finished in [^,]+, ([\d.]+) req\/s/.exec(said)?.[1]);
  const good = Number(/status codes: (\d+) 2xx/.exec(said)?.[1]);
  const bad = Number(/(\d+) failed, /.exec(said)?.[1]);
  if (!(perSecond > 0) || !(good > 0) || bad > 0) throw new Error(`h2load said: ${said}`);
  return { perSecond, completed: good };
}
