import type { Notice, World } from "./world.js";

/** A text that agents can search. */
export interface TextDocument {
  readonly id: string;
  readonly title: string;
  readonly text: string;
}

/** A table that agents can read row by row. */
export interface TableDocument {
  readonly name: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** What the agents of a team can look at, each with the tools that it has. */
export interface DocumentSet {
  readonly texts: readonly TextDocument[];
  readonly tables: readonly TableDocument[];
}

/** The documents of a world, with enough beside the point that a search has to choose. */
export function writeDocuments(world: World): DocumentSet {
  const { ports, ships, fleets, board } = world;
  const elsewhere = (port: string, step: number): string => {
    const at = ports.findIndex(({ name }) => name === port);
    return ports[(at + step) % ports.length]?.name ?? "";
  };
  return {
    texts: [
      ...ships.map(({ name, kind, port, fleet }, index) => ({
        id: `ship-${index + 1}`,
        title: `Register: ${name}`,
        text:
          `The ${name} is a ${kind} of the ${fleet} fleet. Built beside the river, she spent one winter in ${elsewhere(port, 3)} for ` +
          `repairs. According to the register the home port of the ${name} is ${port}. Her crew trades with ${elsewhere(port, 5)} in summer.`,
      })),
      ...fleets.map(({ name, ships: own }, index) => ({
        id: `fleet-${index + 1}`,
        title: `The ${name} fleet`,
        text: `The ${name} fleet owns these ships: ${own.join(", ")}. Its office was moved twice, and its flag shows a lantern.`,
      })),
      ...fleets.map(({ name, discount }, index) => ({
        id: `contract-${index + 1}`,
        title: `Contract with the ${name} fleet`,
        text: `All ports grant the ${name} fleet a discount of ${discount} percent on its berth bills, as long as bills are paid in time.`,
      })),
      ...ports.map(({ name, notices }, index) => ({
        id: `notices-${index + 1}`,
        title: `Notices of the port of ${name}`,
        text: `Changes of the berth fee of ${name}, in the order in which they came into force. ${noticeText(notices)}`,
      })),
      {
        id: "board",
        title: "Notices of the board of all ports",
        text: `Changes of the berth fees of every harbour, by the board, in the order in which they came into force. ${noticeText(board)}`,
      },
    ],
    tables: [
      {
        name: "ports",
        columns: ["port", "master", "fee"],
        rows: ports.map(({ name, master, fee }) => [name, master, String(fee)]),
      },
      { name: "stays", columns: ["ship", "nights"], rows: ships.map(({ name, nights }) => [name, String(nights)]) },
    ],
  };
}

function noticeText(notices: readonly Notice[]): string {
  return notices
    .map((notice, index) =>
      notice.kind === "add"
        ? `Notice ${index + 1}: add ${notice.crowns} crowns.`
        : `Notice ${index + 1}: raise by ${notice.percent} percent.`,
    )
    .join(" ");
}
