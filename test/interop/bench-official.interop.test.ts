import { execFileSync } from "node:child_process";
import { dirname } from "node:path";
import { expect, it } from "vitest";
import {
  makePlan,
  officialPrograms,
  officialVersions,
  planArms,
  planConditions,
  runBench,
  scenarios,
} from "../../bench/protocols/index.js";
import { protocols } from "../../src/public/protocols.js";
import { options, SETTINGS, withFolder } from "../bench/stage.js";

/** The protocols whose official implementation is installed here. In CI all four are. */
const installed = protocols
  .map(({ id }) => id)
  .filter((protocol) => officialPrograms({ protocol, features: "envelope" }) !== undefined);

it.skipIf(installed.length === 0)("measures the official implementations beside ours", { timeout: 300_000 }, () =>
  withFolder(async (folder) => {
    const { echo } = scenarios;
    const arms = planArms({ protocols: installed, implementations: ["koine", "official"], features: ["envelope"] }, echo);
    const conditions = planConditions({ clients: 1, rates: [], arrivals: "constant", inFlight: 8, faults: [] });
    const plan = makePlan({ scenario: echo, mode: "custom", settings: SETTINGS, arms, conditions });
    const versions = officialVersions(installed.map((protocol) => ({ protocol })));
    const result = await runBench(options(folder, plan, { programsOf: officialPrograms, versions, startMs: 120_000 }));
    expect(result.runs.map(({ status, reason, invalid }) => ({ status, reason, invalid }))).toEqual(
      plan.runs.map(() => ({ status: "complete", reason: null, invalid: [] })),
    );
    expect(result.checks.fairness.passed).toBe(true);
    expect(result.checks.replay.passed).toBe(true);
    expect(Object.keys(versions)).toHaveLength(installed.length);
  }),
);

it.skipIf(installed.length === 0)("serves official implementations without Nagle's delay", () => {
  const [protocol = ""] = installed;
  const agent = officialPrograms({ protocol, features: "envelope" })?.agent;
  const script = `
import asyncio, socket, lines
async def main():
    accepted = asyncio.Future()
    listening = lines.listen(0)
    server = await asyncio.start_server(lambda _, writer: accepted.set_result(writer), sock=listening)
    _, caller = await asyncio.open_connection(*listening.getsockname())
    lines.show(noDelay=(await accepted).get_extra_info('socket').getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
asyncio.run(main())`;
  const printed = execFileSync(agent?.command ?? "", ["-B", "-c", script], {
    cwd: dirname(agent?.args.at(-1) ?? ""),
    encoding: "utf8",
  });
  expect(JSON.parse(printed)).toMatchObject({ noDelay: 1 });
});
