import { DEFAULT_HOST, DEFAULT_PORT } from "./addresses.js";
import type { GatewayConfig } from "./config.js";
import { ConfigError } from "./config-problem.js";
import type { ConfigDocument } from "./config-schema.js";

/** Members that take effect only at start: changing them requires a restart. */
const FIXED: readonly (readonly [path: readonly string[], of: (document: ConfigDocument) => unknown])[] = [
  [["profile"], ({ profile }) => profile],
  [["listen", "port"], ({ listen }) => listen?.port ?? DEFAULT_PORT],
  [["listen", "host"], ({ listen }) => listen?.host ?? DEFAULT_HOST],
  [["listen", "publicUrl"], ({ listen }) => listen?.publicUrl],
  [["listen", "names"], ({ listen }) => listen?.names],
  [["listen", "trustedProxies"], ({ listen }) => listen?.trustedProxies],
  [["listen", "allowOrigins"], ({ listen }) => listen?.allowOrigins],
  [["listen", "openToEverybody"], ({ listen }) => listen?.openToEverybody],
  [["listen", "tls"], ({ listen }) => listen?.tls !== undefined],
  [["listen", "tls", "clientCa"], ({ listen }) => listen?.tls?.clientCa !== undefined],
  [["store"], ({ store }) => store],
  [["artifacts"], ({ artifacts }) => artifacts],
  [["secret"], ({ secret }) => secret],
  [["audit"], ({ audit }) => audit],
  [["log"], ({ log }) => log],
  [["logLevel"], ({ logLevel }) => logLevel],
  [["logFormat"], ({ logFormat }) => logFormat],
  [["metrics"], ({ metrics = false }) => metrics !== false],
  [["metricNames"], ({ metricNames }) => metricNames],
  [["tracing"], ({ tracing = false }) => tracing],
  [["inspect"], ({ inspect }) => inspect],
  [["page"], ({ page }) => page],
  [["admin"], ({ admin }) => (typeof admin === "object" ? { ...admin, tls: admin.tls !== undefined } : admin)],
  [["limits"], ({ limits }) => limits],
  [["taskLimits"], ({ taskLimits }) => taskLimits],
];

/** Throws ConfigError if a new configuration changes members that require a restart. */
export function rejectFixedChanges(running: GatewayConfig, wanted: GatewayConfig): void {
  const problems = wanted.newProblems();
  for (const [path, of] of FIXED)
    if (JSON.stringify(of(running.document)) !== JSON.stringify(of(wanted.document)))
      problems.add(path, "cannot change while the gateway is running: restart the gateway to apply it");
  if (problems.list.length > 0) throw new ConfigError(problems.list);
}
