/** Demo agent with input-required turns: assigns berths, and asks for the ship's length if it is missing. */
import { agent } from "../../../src/index.js";
import { numberBefore, shipIn } from "./harbour-requests.js";

/** Berths with the maximum ship length. */
const BERTHS = [
  { name: "the fishing quay", metres: 12 },
  { name: "the inner quay", metres: 30 },
  { name: "the long pier", metres: 120 },
] as const;

const berths = agent({
  name: "berths",
  description: "Assigns berths for the night",
  skills: [
    {
      id: "place",
      name: "A place for the night",
      description: "The smallest berth in which the ship fits",
      tags: ["berths", "questions"],
      examples: ['A place for "Aurora"', 'A place for "Aurora", 28 metres'],
    },
  ],
  handle(message, task) {
    const ship = shipIn(message.text) ?? nameIn(task.state) ?? "the ship";
    const metres = numberBefore("m", message.text) ?? (task.turn > 1 ? Number(/\d+/.exec(message.text)?.[0]) : undefined);
    if (metres === undefined || Number.isNaN(metres)) {
      task.save({ ship });
      return task.ask(`How long is ${ship}, in metres?`);
    }
    const berth = BERTHS.find((each) => each.metres >= metres);
    return berth === undefined ? task.reject(`${ship} is too long for this harbour`) : `${ship} lies at ${berth.name}.`;
  },
});

export { berths as agent };

/** The ship saved by an earlier turn. */
function nameIn(state: unknown): string | undefined {
  if (typeof state !== "object" || state === null || !("ship" in state)) return undefined;
  return typeof state.ship === "string" ? state.ship : undefined;
}
