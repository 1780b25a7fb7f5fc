import { isObject } from "../../../envelope/index.js";
import { demand, demandObject, demandString, show, skip } from "../../check.js";
import { listOf } from "./card-view.js";
import { call, needsCredentials, requestFor, resultOf, sendParams, type WireRequirement } from "./probe.js";
import { blamesItself, demandError, showError, wantsCredentials } from "./wire-errors.js";

const BOTH = ["1.0", "0.3"] as const;
const UNKNOWN_EXTENSION = "https://extensions.example.com/nobody-has-this/v1";

/** Extended card, extensions, tenant. */
export const negotiationRequirements: readonly WireRequirement[] = [
  {
    key: "extended-card:gate",
    capability: "security",
    needs: ["no extended"],
    source: "A2A 1.0 §3.3.4",
    behaviour: "Without the capability, the extended card is rejected with UnsupportedOperation.",
    async run(probe) {
      const answer = await call(probe, "GetExtendedAgentCard", {});
      demandError(answer.error, ["UNSUPPORTED_OPERATION"], answer.result);
    },
  },
  {
    key: "extended-card:given",
    capability: "security",
    versions: BOTH,
    needs: ["extended"],
    source: "A2A 1.0 §3.1.11",
    behaviour: "The extended card is a card, or not configured, or needs credentials.",
    async run(probe) {
      const { error, result } = await call(probe, "GetExtendedAgentCard", {});
      if (error !== undefined && wantsCredentials(error)) return;
      if (error !== undefined) return void demandError(error, ["EXTENDED_AGENT_CARD_NOT_CONFIGURED"], result);
      demandString(demandObject(result, "the extended card")["name"], "name");
    },
  },
  {
    key: "extended-card:anonymous",
    capability: "security",
    versions: BOTH,
    needs: ["extended"],
    source: "A2A 1.0 §3.1.11, §13.3",
    behaviour: "The extended card requires authentication.",
    async run(probe) {
      needsCredentials(probe);
      const { error, result } = await call(probe, "GetExtendedAgentCard", {}, { anonymous: true });
      demand(error !== undefined, `it was returned: ${show(result)}`);
      demand(wantsCredentials(error), `rejected for another reason: ${showError(error)}`);
    },
  },
  {
    key: "extensions:unknown",
    capability: "connectivity",
    source: "A2A 1.0 §4.6, §14.2.2",
    behaviour: "An unknown extension is ignored and not listed as active.",
    async run(probe) {
      const answer = await call(probe, "SendMessage", sendParams(probe), { headers: { "a2a-extensions": UNKNOWN_EXTENSION } });
      resultOf(answer);
      const active = answer.got.headers["a2a-extensions"] ?? "";
      demand(!active.includes(UNKNOWN_EXTENSION), `A2A-Extensions is ${show(active)}`);
    },
  },
  {
    key: "extensions:required",
    capability: "security",
    source: "A2A 1.0 §3.3.4",
    behaviour: "A send without an extension that the card requires is rejected with ExtensionSupportRequired.",
    async run(probe) {
      const capabilities = probe.card.document["capabilities"];
      const extensions = listOf(isObject(capabilities) ? capabilities["extensions"] : []);
      if (!extensions.some(({ required }) => required === true)) return skip("the card requires no extension");
      const answer = await call(probe, "SendMessage", sendParams(probe), { headers: { "a2a-extensions": undefined } });
      demandError(answer.error, ["EXTENSION_SUPPORT_REQUIRED"], answer.result);
    },
  },
  {
    key: "extensions:activated",
    capability: "connectivity",
    level: "should",
    source: "A2A 1.0 §14.2.2",
    behaviour: "Extensions of the card that a request names are listed as active in the answer.",
    async run(probe) {
      const capabilities = probe.card.document["capabilities"];
      const known = listOf(isObject(capabilities) ? capabilities["extensions"] : []);
      if (known.length === 0) return skip("the card has no extension");
      const uris = known.map(({ uri }, index) => demandString(uri, `extensions[${index}].uri`));
      const { got } = await call(probe, "SendMessage", sendParams(probe), { headers: { "a2a-extensions": uris.join(", ") } });
      const active = (got.headers["a2a-extensions"] ?? "").split(",").map((uri) => uri.trim());
      const silent = uris.filter((uri) => !active.includes(uri));
      demand(silent.length === 0, `declared and not active: ${silent.join(", ")}; A2A-Extensions is ${show(active)}`);
    },
  },
  {
    key: "tenant:listed",
    capability: "connectivity",
    source: "A2A 1.0 §4.4.6",
    behaviour: "A request with the tenant of the card's interface is answered.",
    async run(probe) {
      if (probe.at.tenant === undefined) return skip("the card's interface has no tenant");
      resultOf(await call(probe, "SendMessage", sendParams(probe)));
    },
  },
  {
    key: "tenant:unlisted",
    capability: "edge-cases",
    source: "A2A 1.0 §3.3.2",
    behaviour: "An unlisted tenant is served or rejected, never a server error.",
    async run(probe) {
      const { url } = requestFor(probe, "SendMessage", {});
      const asPath = { url: url.replace(/\/message:send$/, "/no-such-tenant/message:send") };
      const inPath = probe.wire.binding === "HTTP+JSON";
      const params = inPath ? sendParams(probe) : { tenant: "no-such-tenant", ...sendParams(probe) };
      const { got, error } = await call(probe, "SendMessage", params, asPath);
      demand(got.status < 500, `answered ${got.status}`);
      demand(error?.grpc === undefined || !blamesItself(error), `server error: ${show(error?.message)}`);
    },
  },
];
