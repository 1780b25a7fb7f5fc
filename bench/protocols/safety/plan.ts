import { deploymentRows } from "../../../src/internal.js";
import { type Deployment, type DeploymentName, protocols } from "../../../src/public/protocols.js";
import { SCHEMA_VERSION } from "../result/index.js";
import { calledProtocol, ROUTER_ARM, type Routing } from "../router-loop/choose.js";
import type { ProbeConfig } from "./probe-config.js";
import { KIND, type Plan, type Target } from "./result/event.js";

const OPEN: Deployment = {
  transport: "clear",
  callers: "anonymous",
  messages: "plain",
  signedCards: false,
  because: "the control that must fail every probe: plain HTTP without any check",
};

const HARDENED: Deployment = {
  transport: "mtls",
  callers: "certificate",
  messages: "sealed",
  signedCards: false,
  because: "the control that must pass every probe: client certificates, sealed messages with numbers and times",
};

export interface SafetyChoice {
  readonly mode: Plan["mode"];
  readonly config: ProbeConfig;
  /** By id. */
  readonly protocols: readonly string[];
  readonly deployments: readonly DeploymentName[];
  /** One more target: the protocol that the router chose for the doctors. */
  readonly routing?: Routing | undefined;
}

/** Each protocol in each deployment of its own table, after the two controls. The router's is run as recommended, where that is. */
export function planSafety({ mode, config, protocols: ids, deployments, routing }: SafetyChoice): Plan {
  const rows = deploymentRows(protocols.filter(({ id }) => ids.includes(id))).filter(({ name }) => deployments.includes(name));
  const targets: Target[] = [
    { id: "open", protocol: null, deployment: "open", row: OPEN },
    { id: "hardened", protocol: null, deployment: "hardened", row: HARDENED },
    ...rows.map(({ protocol, name, ...row }) => ({ id: `${protocol} ${name}`, protocol, deployment: name, row })),
  ];
  const plan = { schema: SCHEMA_VERSION, kind: KIND, scenario: "safety", mode, config } as const;
  if (routing === undefined) return { ...plan, targets };
  if (routing.infeasible !== undefined) return { ...plan, targets, routing };
  const chosen = targets.filter(({ protocol }) => protocol === calledProtocol("safety", routing));
  const executed = chosen.find(({ deployment }) => deployment === "recommended") ?? chosen[0];
  if (executed === undefined) throw new Error("the router chose a protocol that is not probed");
  return { ...plan, targets: [...targets, { ...executed, id: ROUTER_ARM }], routing };
}
