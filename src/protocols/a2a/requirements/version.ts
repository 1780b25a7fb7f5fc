import { demand } from "../../duty.js";
import { call, requestFor, resultOf, sendParams, type WireDuty } from "./probe.js";
import { JSON_BINDINGS } from "./wire.js";
import { blamesItself, demandError, showError } from "./wire-errors.js";

const SOURCE = "A2A 1.0 §3.6";

/** The version header, which decides how everything else is read. */
export const versionDuties: readonly WireDuty[] = [
  {
    key: "version:accepted",
    capability: "connectivity",
    versions: ["1.0", "0.3"],
    source: `${SOURCE}.2`,
    behaviour: "A request that names the listed version is answered.",
    run: async (probe) => void resultOf(await call(probe, "SendMessage", sendParams(probe))),
  },
  {
    key: "version:unknown",
    capability: "connectivity",
    source: `${SOURCE}.2`,
    behaviour: "A version the agent does not have is refused with VersionNotSupported.",
    async run(probe) {
      const answer = await call(probe, "SendMessage", sendParams(probe), { headers: { "a2a-version": "99.0" } });
      demandError(answer.error, ["VERSION_NOT_SUPPORTED"], answer.result);
    },
  },
  {
    key: "version:absent",
    capability: "connectivity",
    source: `${SOURCE}.2`,
    behaviour: "A request without a version is read as 0.3 or refused; it is never a fault of the server.",
    async run(probe) {
      const answer = await call(probe, "SendMessage", sendParams(probe), { headers: { "a2a-version": undefined } });
      const { error } = answer;
      demand(
        error === undefined || !blamesItself(error),
        `the server blames itself: ${error === undefined ? "" : showError(error)}`,
      );
    },
  },
  {
    key: "version:patch",
    capability: "connectivity",
    source: SOURCE,
    behaviour: "A patch number in the version does not matter.",
    run: async (probe) =>
      void resultOf(await call(probe, "SendMessage", sendParams(probe), { headers: { "a2a-version": "1.0.1" } })),
  },
  {
    key: "version:query",
    capability: "connectivity",
    bindings: JSON_BINDINGS,
    level: "should",
    source: `${SOURCE}.1`,
    behaviour: "The version may come as the query parameter A2A-Version in place of the header.",
    async run(probe) {
      const { url } = requestFor(probe, "SendMessage", {});
      const asking = (version: string) => ({ url: `${url}?A2A-Version=${version}`, headers: { "a2a-version": undefined } });
      resultOf(await call(probe, "SendMessage", sendParams(probe), asking("1.0")));
      const unknown = await call(probe, "SendMessage", sendParams(probe), asking("99.0"));
      demandError(unknown.error, ["VERSION_NOT_SUPPORTED"], unknown.result);
    },
  },
];
