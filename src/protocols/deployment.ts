import type { Maybe } from "../envelope/index.js";

/** Two ways to run a protocol: the least that works, and what is advised beyond one machine. */
export const DEPLOYMENT_NAMES = ["minimal", "recommended"] as const;
export type DeploymentName = (typeof DEPLOYMENT_NAMES)[number];

/** How a protocol is run. Profiles, the documentation and the benchmarks read the same rows. */
export interface Deployment {
  /** The connection. `mtls`: callers present certificates too. */
  readonly transport: "clear" | "tls" | "mtls";
  /** How a caller is known. */
  readonly callers: "anonymous" | "bearer" | "certificate" | "did";
  /** The protection of the message itself, beside that of the connection. */
  readonly messages: "plain" | "signed" | "sealed";
  /** The document that describes the agent is signed. */
  readonly signedCards: boolean;
  /** Why, with the section of the specification if it has one. */
  readonly because: string;
}

/** The rows of one protocol. */
export type Deployments = { readonly [name in DeploymentName]: Deployment };

/** One row of the table of deployments. */
export interface DeploymentRow extends Deployment {
  readonly protocol: string;
  readonly name: DeploymentName;
}

interface DeployedProtocol {
  readonly id: string;
  readonly deployments?: Maybe<Deployments>;
}

/** The table of deployments of these protocols. */
export function deploymentRows(protocols: readonly DeployedProtocol[]): readonly DeploymentRow[] {
  return protocols.flatMap(({ id, deployments }) => DEPLOYMENT_NAMES.flatMap((name) => rowOf(id, name, deployments)));
}

function rowOf(protocol: string, name: DeploymentName, deployments: Maybe<Deployments>): readonly DeploymentRow[] {
  return deployments === undefined ? [] : [{ protocol, name, ...deployments[name] }];
}
