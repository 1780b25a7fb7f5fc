/**
 * The beginning of a text, as a text of its own. A plain slice refers to the whole text and keeps it in memory for as long as the slice:
 * a preview would hold its message.
 */
export function firstCharacters(text: string, most: number): string {
  return text.length <= most ? text : (JSON.parse(JSON.stringify(text.slice(0, most))) as string);
}
