import { expect, test } from 'vitest';
import { HOST_WIRES, WIRE_NAMES } from '../canonical/wire-names.ts';
import { WIRES } from './registry.ts';

test('holds every wire under its own name', () => {
  expect(Object.keys(WIRES).sort()).toEqual([...WIRE_NAMES].sort());
  for (const name of WIRE_NAMES) expect(WIRES[name].name).toBe(name);
});

test('a wire that no host speaks is another spelling of one that hosts do', () => {
  const hostWires: readonly string[] = HOST_WIRES;
  for (const name of WIRE_NAMES) expect(hostWires).toContain(WIRES[name].hostWire ?? name);
});
