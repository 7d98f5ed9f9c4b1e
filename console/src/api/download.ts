import { exportUrl, fetchGateway, type RouteName, refusalOf } from './client.ts';
import { authorizationHeader } from './session.ts';

/** Saves a list as a file. A plain link could not send the header of local mode. */
export async function downloadList(
  route: RouteName,
  input: Readonly<Record<string, unknown>>,
  format: 'csv' | 'jsonl',
  fileName: string,
): Promise<void> {
  const response = await fetchGateway(exportUrl(route, input, format), { headers: authorizationHeader() });
  if (!response.ok) throw refusalOf(response, await response.text());
  saveFile(await response.blob(), `${fileName}.${format}`);
}

export function saveJson(text: string, fileName: string): void {
  saveFile(new Blob([text], { type: 'application/json' }), fileName);
}

function saveFile(content: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
