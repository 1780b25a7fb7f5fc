import { execFile } from "node:child_process";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { compiled } from "./programs.js";

const run = promisify(execFile);

/** Serves an agent, calls it once, and prints the parts of undici that are loaded. */
const PROGRAM = `
  import { createRequire } from "node:module";
  const { agent, connect, serve } = await import(process.argv[1]);
  const server = await serve(agent({ name: "echo", description: "", handle: (message) => message.text }), { port: 0 });
  const peer = await connect("http://127.0.0.1:" + server.port);
  const answer = await peer.ask("hello");
  await peer.close();
  await server.close();
  const loaded = Object.keys(createRequire(process.argv[1]).cache).flatMap((path) => path.split(/undici[/\\\\]/).slice(1));
  console.log(JSON.stringify({ answer, loaded }));
`;

it("loads the connection pool with the first call, and nothing else of its package", async () => {
  const url = pathToFileURL(compiled("src/index.ts")).href;
  const { stdout } = await run(process.execPath, ["--input-type=module", "-e", PROGRAM, url]);
  const { answer, loaded }: { answer: string; loaded: readonly string[] } = JSON.parse(stdout);
  expect(answer).toBe("hello");
  expect(loaded.map((path) => path.replaceAll("\\", "/"))).toContain("lib/dispatcher/pool.js");
  expect(loaded.filter((path) => /^(index\.js|lib.(web|mock|cache|api|interceptor))/.test(path))).toEqual([]);
});
