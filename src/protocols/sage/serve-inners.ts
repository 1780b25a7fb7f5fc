import { AgentError } from "../../envelope/index.js";
import type { HttpRequest } from "../../transport/exchange.js";
import type { Host, Route, Served } from "../protocol.js";
import { type Claim, claimOf, compileRoutes } from "../route-table.js";
import { checkOver, type Inner, isOver } from "./inner.js";
import { carryingRoutes, serveOver } from "./server.js";
import { readSettings } from "./settings.js";
import { PROTOCOL } from "./wire.js";

/**
 * Serves SAGE over the protocols that the user chose. Marked requests of the others come here, too, and are refused in their form: they
 * are never handled as plain ones.
 */
export function serveInners(inners: readonly Inner[], host: Host): Served {
  const { over } = readSettings(host.settings(PROTOCOL));
  checkOver(inners, over);
  const sides = inners.map((inner) => ({ inner, served: serveOver(inner, host), isOpen: isOver(inner, over) }));
  const open = sides.filter(({ isOpen }) => isOpen);
  // Which of several routes gets a request is decided here as in the host, where all of them are of SAGE.
  const table = compileRoutes(
    sides.flatMap(({ inner, served: { exchange } }) =>
      carryingRoutes(inner).map((route): Claim => ({ owner: inner.id, route, exchange })),
    ),
  );

  function exchange(request: HttpRequest): ReturnType<Served["exchange"]> {
    const found = claimOf(table.find(request), request)?.exchange ?? sides[0]?.served.exchange;
    if (found === undefined) throw new AgentError("internal", "SAGE is over no protocol");
    return found(request);
  }

  const owned = new Set(open.flatMap(({ inner }) => carryingRoutes(inner).map(nameOf)));
  const notify = open.find(({ inner }) => inner.isDefault)?.served.notify;
  return {
    exchange,
    interfaces: (agent, publicUrl) => open.flatMap(({ served }) => served.interfaces(agent, publicUrl)),
    ownsPath: (route) => owned.has(nameOf(route)),
    ...(notify && { notify }),
    async close() {
      await Promise.all(sides.map(async ({ served }) => served.close?.()));
    },
  };
}

function nameOf({ method, path }: Route): string {
  return `${method} ${path}`;
}
