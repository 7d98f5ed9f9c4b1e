import type { PackageManifest } from '../package/manifest.ts';

interface Component {
  readonly name: string;
  readonly group?: string;
  readonly version: string;
  readonly purl?: string;
}

/** What a software bill of materials (CycloneDX) says wrongly, or leaves out, about an installation of the package. */
export function sbomProblems(sbom: string, { name, version, dependencies }: PackageManifest): string[] {
  const { bomFormat, components = [] } = JSON.parse(sbom) as { bomFormat?: string; components?: readonly Component[] };
  if (bomFormat !== 'CycloneDX') return [`The format is ${bomFormat}, not CycloneDX.`];
  const wanted = new Map([...Object.entries(dependencies), [name, version] as const]);
  const problems: string[] = [];
  for (const component of components) {
    const fullName = component.group === undefined ? component.name : `${component.group}/${component.name}`;
    const expected = wanted.get(fullName);
    wanted.delete(fullName);
    if (expected === undefined) problems.push(`${fullName} ${component.version} is not pinned by the package`);
    else if (expected !== component.version) problems.push(`${fullName} is ${component.version}, not ${expected}`);
    if (component.purl === undefined) problems.push(`${fullName} has no package URL`);
  }
  return [...problems, ...[...wanted.keys()].map((missing) => `${missing} is missing`)];
}
