import { demand } from "../../check.js";
import { call, requestFor, resultOf, sendParams, type WireRequirement } from "./probe.js";
import { JSON_BINDINGS } from "./wire.js";
import { blamesItself, demandError, showError } from "./wire-errors.js";

const SOURCE = "A2A 1.0 §3.6";

/** Version negotiation by header. */
export const versionRequirements: readonly WireRequirement[] = [
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
    behaviour: "An unsupported version is rejected with VersionNotSupported.",
    async run(probe) {
      const answer = await call(probe, "SendMessage", sendParams(probe), { headers: { "a2a-version": "99.0" } });
      demandError(answer.error, ["VERSION_NOT_SUPPORTED"], answer.result);
    },
  },
  {
    key: "version:absent",
    capability: "connectivity",
    source: `${SOURCE}.2`,
    behaviour: "A request without a version is read as 0.3 or rejected, never a server error.",
    async run(probe) {
      const answer = await call(probe, "SendMessage", sendParams(probe), { headers: { "a2a-version": undefined } });
      const { error } = answer;
      demand(error === undefined || !blamesItself(error), `server error: ${error === undefined ? "" : showError(error)}`);
    },
  },
  {
    key: "version:patch",
    capability: "connectivity",
    source: SOURCE,
    behaviour: "A patch number in the version is ignored.",
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
