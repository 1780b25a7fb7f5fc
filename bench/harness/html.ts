import type { Table } from "./table.js";

const ENTITIES: { readonly [character: string]: string } = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Characters that are invisible or change the text direction. */
const UNSEEN = /[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu;

/** Escapes text from files: it can be neither markup nor the end of an attribute. */
export function escaped(text: string): string {
  return text.replace(UNSEEN, " ").replace(/[&<>"']/g, (character) => ENTITIES[character] ?? "");
}

export interface Page {
  readonly title: string;
  readonly style: string;
  /** Markup. */
  readonly body: string;
  /** Loads itself again. */
  readonly refreshSeconds?: number;
}

/** One file that needs nothing else: no script, no font, no address. */
export function pageHtml({ title, style, body, refreshSeconds }: Page): string {
  const refresh = refreshSeconds === undefined ? "" : `\n<meta http-equiv="refresh" content="${refreshSeconds}">`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">${refresh}
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${escaped(title)}</title>
<style>${style}</style>
</head>
<body>
${body}
</body>
</html>
`;
}

/** A table with header cells for its columns and rows; the note stands below it. */
export function tableHtml({ title, head, rows, note }: Table): string {
  const heads = head.map((cell) => `<th scope="col">${escaped(cell)}</th>`).join("");
  const lines = rows.map(([name = "", ...cells]) => {
    const data = cells.map((cell) => `<td>${escaped(cell)}</td>`).join("");
    return `<tr><th scope="row">${escaped(name)}</th>${data}</tr>`;
  });
  const remark = note === undefined ? "" : `<figcaption>${escaped(note)}</figcaption>\n`;
  return `<figure>
<table>
<caption>${escaped(title)}</caption>
<thead><tr>${heads}</tr></thead>
<tbody>
${lines.join("\n")}
</tbody>
</table>
${remark}</figure>`;
}
