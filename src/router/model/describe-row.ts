import { CAPABILITIES, type Features, type Support } from "../../protocols/features.js";

/** A row of the feature model for a reader who knows none of the protocols. */
export function describeRow({ name, title, madeFor, lessSuitedFor, facts, support }: Features): string {
  const labels = (how: Support | undefined): string =>
    CAPABILITIES.filter(({ id }) => support[id] === how)
      .map(({ label }) => label)
      .join(", ") || "nothing";
  return [
    `${name}: ${title}`,
    `- made for ${madeFor}`,
    `- less suited for ${lessSuitedFor}`,
    ...facts.map((fact) => `- ${fact}`),
    `- carries by itself: ${labels("native")}`,
    `- carries with layers on top: ${labels("composed")}`,
    `- cannot carry: ${labels(undefined)}`,
  ].join("\n");
}
