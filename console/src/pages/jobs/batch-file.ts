/** Requests of a batch file, one a line, or what is wrong with it. */
export function readBatchFile(text: string): readonly unknown[] | string {
  const lines = text.split('\n').map((line) => line.trim());
  const requests: unknown[] = [];
  for (const [at, line] of lines.entries()) {
    if (line === '') continue;
    try {
      requests.push(JSON.parse(line));
    } catch {
      return `Line ${at + 1} is not valid JSON. A batch file has one request per line.`;
    }
  }
  return requests.length === 0 ? 'The file is empty.' : requests;
}
