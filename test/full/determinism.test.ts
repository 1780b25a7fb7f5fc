import { expect, test } from "vitest";
import { route } from "../../src/router/index.js";
import { routeInProcess, THIRTY_MODULES } from "../router/thirty-modules.js";

test("routing gives the same bytes without the JIT compiler", async () => {
  const environment = { TZ: "America/St_Johns", LANG: "C", LC_ALL: "C", NODE_OPTIONS: "--jitless" };
  expect(routeInProcess(THIRTY_MODULES, environment)).toBe(JSON.stringify(await route(THIRTY_MODULES)));
}, 90_000);
