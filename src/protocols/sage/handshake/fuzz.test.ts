import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Agents, agent } from "../../../../test/sage/handshake-pair.js";
import type { Json, JsonObject } from "../../../envelope/index.js";
import { HandshakeError } from "./index.js";

/** Whatever is altered, added, left out or made up ends in a refusal with a reason, never in a session or in another error. */

const STEPS = [
  ["hpke", 1],
  ["hpke", 2],
  ["four-phase", 1],
  ["four-phase", 2],
  ["four-phase", 3],
  ["four-phase", 4],
] as const;

const [ANN, BOB] = [agent("a"), agent("b")];
const agentsOf = (): Agents => new Agents(ANN, BOB);

async function refused(run: Promise<unknown>): Promise<boolean> {
  try {
    await run;
  } catch (thrown) {
    if (thrown instanceof HandshakeError) return true;
    throw thrown;
  }
  return false;
}

/** Another value of the same form, so that only its meaning is wrong. */
function another(value: Json): Json {
  if (typeof value === "number") return value + 1;
  if (typeof value !== "string") return ["hpke-base+x25519+hkdf-sha256", "other"];
  if (/^[0-9a-f-]{36}$/.test(value)) return "22222222-2222-4222-8222-222222222222";
  if (/^[\w-]{22,}$/.test(value)) return (value.startsWith("B") ? "C" : "B") + value.slice(1);
  return `${value}0`;
}

describe.each(STEPS)("message %s %i", (form, step) => {
  test("is refused with any member altered, left out, of another type, or added", async () => {
    const { messages } = await agentsOf().connect(form);
    const names = Object.keys(messages[step - 1] ?? {});
    expect(names.length).toBeGreaterThan(4);
    const changes = [another, () => undefined, () => "\ud800"];
    for (const name of names) {
      for (const change of changes) {
        const altered = (message: JsonObject, at: number): unknown => {
          if (at !== step) return message;
          const { [name]: value = null, ...others } = message;
          const changed = change(value);
          return changed === undefined ? others : { ...others, [name]: changed };
        };
        expect(await refused(agentsOf().connect(form, altered)), `${name} ${change}`).toBe(true);
      }
    }
    const added = (message: JsonObject, at: number): JsonObject => (at === step ? { ...message, more: "" } : message);
    expect(await refused(agentsOf().connect(form, added))).toBe(true);
  });

  test("is refused if it is any JSON value, or has any in one of its members", async () => {
    const agents = agentsOf();
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), fc.nat(), fc.boolean(), async (value, pick, whole) => {
        const altered = (message: JsonObject, at: number): unknown => {
          if (at !== step) return message;
          const names = Object.keys(message);
          return whole ? value : { ...message, [names[pick % names.length] ?? ""]: value };
        };
        expect(await refused(agents.connect(form, altered))).toBe(true);
        agents.nowMs += 60_000; // what is under way ends
      }),
      { numRuns: 25, seed: 20 },
    );
  });
});
