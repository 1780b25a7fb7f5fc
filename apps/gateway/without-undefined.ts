/** Drops undefined members: a member that is present and undefined would override a default. */
export function withoutUndefined<T extends object>(members: T): { readonly [Name in keyof T]?: Exclude<T[Name], undefined> } {
  // only undefined members are removed
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as {
    readonly [Name in keyof T]?: Exclude<T[Name], undefined>;
  };
}
