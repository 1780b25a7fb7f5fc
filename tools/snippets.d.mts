/** The TypeScript of a page, one list of lines for each compiled file. */
export function snippetsOf(page: string): readonly (readonly { readonly code: string; readonly at: string }[])[];
