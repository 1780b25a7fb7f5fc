import type { JsonObject } from "../../src/index.js";
import type { LinkFeature, NetworkLink } from "../../src/public/network.js";
import type { Plan } from "../up/index.js";
import { printable } from "./printable.js";

/** Where it stands by what means a feature is carried. */
const MEANS_COLUMN = 19;

/** The network a plan makes, for programs. */
export function networkJson({ network, modules }: Plan): JsonObject {
  const pins = new Map(modules.map(({ id, pin }) => [id, pin]));
  const { nodes, links, bridges } = network;
  return {
    nodes: nodes.map(({ id, protocol, spokenBy, features }) => ({
      id,
      protocol,
      spokenBy: spokenBy ?? null,
      pin: pins.get(id) ?? spokenBy ?? null,
      features: features.map(featureJson),
    })),
    links: links.map(({ src, dst, protocol, features }) => ({ src, dst, protocol, features: features.map(featureJson) })),
    bridges: bridges.map((bridge) => ({ ...bridge })),
  };
}

function featureJson(feature: LinkFeature): JsonObject {
  return { ...feature };
}

/** The same for people: every module, then every link with what is on and what is not. */
export function networkText({ network, modules }: Plan): string {
  const width = Math.max(...network.nodes.map(({ id }) => id.length));
  const nodes = network.nodes.map(({ id, protocol, spokenBy }) => {
    const pin = modules.find((module) => module.id === id)?.pin ?? spokenBy;
    return `${id.padEnd(width)}  ${protocol.padEnd(5)}  ${pin ?? "nothing here speaks it"}`;
  });
  const links = network.links.map((link) => {
    const bridge = network.bridges.find(({ src, dst }) => src === link.src && dst === link.dst);
    return linkText(link, bridge === undefined ? "" : `  by a bridge: ${bridge.decode}, ${bridge.encode}`);
  });
  return `${[...nodes, ...links].map(printable).join("\n")}\n`;
}

function linkText({ src, dst, protocol, features }: NetworkLink, bridge: string): string {
  const spoken = protocol[0] === protocol[1] ? protocol[0] : protocol.join(" → ");
  const lines = features.map(({ name, on, primitive, because }) => {
    // The two sides of a bridge stand below each other.
    const means = on ? primitive.replace(" → ", `\n${" ".repeat(MEANS_COLUMN - 2)}→ `) : because;
    return `  ${on ? "on " : "off"}  ${name.padEnd(MEANS_COLUMN - 8)} ${means}`;
  });
  return [`\n${src} → ${dst}  ${spoken}${bridge}`, ...lines].join("\n");
}
