import { type Simulator, startSimulator } from '../../src/main/simulator.ts';

/** The simulated host, in a process of its own. */
export class Upstream {
  readonly url: string;
  readonly #simulator: Simulator;

  private constructor(simulator: Simulator) {
    this.url = simulator.url;
    this.#simulator = simulator;
  }

  static async start(): Promise<Upstream> {
    return new Upstream(await startSimulator());
  }

  /** Lets that many calls pass the gate, those that come later too. */
  async release(gate: string, count: number): Promise<void> {
    const response = await fetch(`${this.url}/sim/release`, { method: 'POST', body: JSON.stringify({ gate, count }) });
    const text = await response.text();
    if (!response.ok) throw new Error(`The simulated host refused to open a gate: ${text}`);
  }

  stop(): void {
    this.#simulator.stop();
  }
}
