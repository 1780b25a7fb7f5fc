import type { Table } from "../../harness/table.js";
import type { Origin } from "../result/manifest.js";

/** Which program ran where and when, before what else a report says about its origin. */
export function originTable({ koine, commit, dirty, node, machine, startedAt, endedAt }: Origin, rows: Table["rows"]): Table {
  return {
    title: "Origin",
    head: ["what", "value"],
    rows: [
      ["Koine", `${koine}${commit === null ? "" : `, commit ${commit}${dirty === true ? " with changes" : ""}`}`],
      ["Node", node],
      ["machine", `${machine.cpu}, ${machine.cores} cores, ${machine.system} ${machine.kernel}`],
      ["started, ended", `${startedAt}, ${endedAt ?? "–"}`],
      ...rows,
    ],
  };
}
