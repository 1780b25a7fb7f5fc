import { expect, test } from "vitest";
import { acp } from "../../src/protocols/acp/index.js";
import { agora } from "../../src/protocols/agora/index.js";
import { anp } from "../../src/protocols/anp/index.js";
import { runMatrix } from "../gateway/pairs/matrix.js";
import { securedToy } from "../secured-toy/index.js";
import { sessionToy } from "../session-toy/index.js";

/** The compatibility matrix takes protocols over sessions as listener and upstream, and misses no loss. */

/** Ends a run that hangs. A matrix takes seconds, and a minute on a busy machine. */
const LIMIT_MS = 300_000;
/** Parts of other kinds, and the members that messages, parts and artifacts of the toy do not have. */
const NOT_CARRIED = [
  "parts[]",
  ...["name", "mediaType", "metadata"],
  ...["extensions", "references", "retryCount", "artifactRefs", "minVersion", "maxVersion"],
];

test(
  "ANP",
  async () => {
    const { cells, interfaces } = await runMatrix([acp, agora, anp]);
    const own = ["anp 1.2 WS", "anp 1.2 JSONRPC"];
    expect(interfaces).toEqual(expect.arrayContaining(own));
    expect(cells).toHaveLength(interfaces.length ** 2);
    const native = { unary: "native", stream: "native", task: "native", cancel: "native", input: "native" };
    const among = cells.filter(({ listener, upstream }) => own.includes(listener) && own.includes(upstream));
    expect(among.map(({ marks, losses }) => [marks, losses])).toEqual(own.flatMap(() => own.map(() => [native, []])));
  },
  LIMIT_MS,
);

test(
  "the secured toy",
  async () => {
    const { cells, interfaces } = await runMatrix([acp, agora, securedToy]);
    const own = cells.find(({ listener, upstream }) => listener === "secured-toy 1 WS" && upstream === listener);
    expect(cells).toHaveLength(interfaces.length ** 2);
    expect(own?.marks).toEqual({ unary: "native", stream: "native", task: "native", cancel: "native", input: "native" });
  },
  LIMIT_MS,
);

test(
  "the session toy",
  async () => {
    const { cells, interfaces } = await runMatrix([acp, agora, sessionToy]);
    expect(interfaces).toContain("session-toy 1 WS");
    expect(cells).toHaveLength(interfaces.length ** 2);
    const own = cells.find(({ listener, upstream }) => listener === "session-toy 1 WS" && upstream === listener);
    expect(own?.marks).toEqual({ unary: "native", stream: "native", task: "native", cancel: "native", input: "native" });
    const lost = own?.losses.map((loss) => /^session-toy · `(?:.*\.)?(.*)`/.exec(loss)?.[1]);
    expect(new Set(lost)).toEqual(new Set(NOT_CARRIED));
  },
  LIMIT_MS,
);
