interface Gate {
  /** Releases that came before any response waited for them. */
  credit: number;
  readonly waiting: Set<() => void>;
}

interface CrowdWatcher {
  readonly name: string;
  readonly count: number;
  readonly tell: () => void;
}

/** Named barriers. A response waits at a gate until a test releases it; first come, first served. */
export class Gates {
  readonly #gates = new Map<string, Gate>();
  readonly #watchers = new Set<CrowdWatcher>();

  /** Calls `pass` on one release, at once if one was given before. The returned function gives up waiting. */
  wait(name: string, pass: () => void): () => void {
    const gate = this.#gate(name);
    if (gate.credit > 0) {
      gate.credit--;
      pass();
      return () => {};
    }
    gate.waiting.add(pass);
    this.#tellWatchers();
    return () => gate.waiting.delete(pass);
  }

  release(name: string, count = 1): void {
    const gate = this.#gate(name);
    gate.credit += count;
    for (const pass of gate.waiting) {
      if (gate.credit === 0) return;
      gate.credit--;
      gate.waiting.delete(pass);
      pass();
    }
  }

  /** Calls back once this many responses wait at the gate at the same time. */
  whenWaiting(name: string, count: number, tell: () => void): void {
    this.#watchers.add({ name, count, tell });
    this.#tellWatchers();
  }

  /** Forgets releases and waiting responses; their owners end them. */
  clear(): void {
    this.#gates.clear();
  }

  #gate(name: string): Gate {
    let gate = this.#gates.get(name);
    if (gate === undefined) {
      gate = { credit: 0, waiting: new Set() };
      this.#gates.set(name, gate);
    }
    return gate;
  }

  #tellWatchers(): void {
    for (const watcher of this.#watchers) {
      if ((this.#gates.get(watcher.name)?.waiting.size ?? 0) < watcher.count) continue;
      this.#watchers.delete(watcher);
      watcher.tell();
    }
  }
}
