interface ChangelogSection {
  readonly title: string;
  readonly text: string;
}

const UNRELEASED = 'Unreleased';

/** What changed in a version: its own section, or what is not released yet. Throws if there is neither, or nothing in it. */
export function changelogSection(changelog: string, version: string): ChangelogSection {
  const sections = changelog.split(/^## /m).slice(1);
  const titleOf = (section: string): string => section.slice(0, section.indexOf('\n')).trim();
  const isAbout = (title: string): boolean => title === version || title.startsWith(`${version} `);
  const found =
    sections.find((section) => isAbout(titleOf(section))) ??
    sections.find((section) => titleOf(section) === UNRELEASED);
  if (found === undefined) throw new Error(`CHANGELOG.md has no section ${version}, and none that is ${UNRELEASED}.`);
  const text = found.slice(found.indexOf('\n')).trim();
  if (!/^- /m.test(text)) throw new Error(`The section ${titleOf(found)} of CHANGELOG.md lists no change.`);
  return { title: titleOf(found), text };
}
