/** How two trees of files differ; empty if they do not. */
export function differences(a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>): string[] {
  const paths = [...new Set([...a.keys(), ...b.keys()])].sort();
  return paths.flatMap((path) => {
    if (a.get(path) === b.get(path)) return [];
    if (!a.has(path)) return [`${path} is only in the rebuild`];
    return [b.has(path) ? `${path} differs` : `${path} is missing in the rebuild`];
  });
}
