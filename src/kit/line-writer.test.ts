import { openSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { LineWriter, type WriteBytes } from './line-writer.ts';

/** A disk whose next writes fail with these codes, or write this many bytes; after them it writes everything. */
function failingDisk(...steps: (string | number)[]): { write: WriteBytes; text(): string } {
  let text = '';
  const write: WriteBytes = (_, bytes, done) => {
    const step = steps.shift() ?? bytes.length;
    if (typeof step === 'number') text += bytes.toString('utf8', 0, step);
    queueMicrotask(() =>
      typeof step === 'number' ? done(null, step) : done(Object.assign(new Error(step), { code: step }), 0),
    );
  };
  return { write, text: () => text };
}

function writerTo(disk: { write: WriteBytes }): LineWriter {
  return new LineWriter({ destination: 1, droppedLine: (count) => `dropped ${count}\n`, write: disk.write });
}

describe('LineWriter', () => {
  it('drops and counts lines that cannot be written, and says so once writing works again', async () => {
    const disk = failingDisk('ENOSPC', 'EIO');
    const writer = writerTo(disk);
    writer.write('one\n');
    writer.write('two\n');
    await writer.flush();
    writer.write('three\n');
    await writer.flush();
    expect(writer.dropped).toBe(3);
    writer.write('four\n');
    await writer.flush();
    expect(disk.text()).toBe('four\ndropped 3\n');
    writer.write('five\n');
    await writer.flush();
    expect(disk.text()).toBe('four\ndropped 3\nfive\n');
  });

  it('writes the rest where a write took only a part', async () => {
    const disk = failingDisk(2, 3);
    const writer = writerTo(disk);
    writer.write('a long line\n');
    await writer.flush();
    expect(disk.text()).toBe('a long line\n');
    expect(writer.dropped).toBe(0);
  });

  it('tries again where the destination is full for a moment, without losing the line', async () => {
    const disk = failingDisk('EAGAIN');
    const writer = writerTo(disk);
    writer.write('patient\n');
    await writer.flush();
    expect(disk.text()).toBe('patient\n');
    expect(writer.dropped).toBe(0);
  });

  it('holds a bounded number of bytes for a destination that takes nothing', () => {
    const writer = writerTo({ write: () => {} });
    const line = `${'x'.repeat(1024 * 1024 - 1)}\n`;
    for (let count = 0; count < 20; count++) writer.write(line);
    expect(writer.dropped).toBe(4);
  });

  it('neither throws nor hangs on a full device', async () => {
    const writer = new LineWriter({ destination: openSync('/dev/full', 'w'), droppedLine: () => '' });
    writer.write('lost\n');
    await writer.flush();
    expect(writer.dropped).toBe(1);
    writer.write('lost too\n');
    writer.flushSync();
  });
});
