// The last question wins: answers to earlier ones are stopped, and dropped if they come all the same.

export interface Clock {
  set(run: () => void, milliseconds: number): number;
  clear(timer: number): void;
}

const CLOCK: Clock = {
  set: (run, milliseconds) => window.setTimeout(run, milliseconds),
  clear: (timer) => window.clearTimeout(timer),
};

export class Latest<Answer> {
  private timer: number | undefined;
  private running: AbortController | undefined;

  constructor(
    private readonly wait: number,
    private readonly clock: Clock = CLOCK,
  ) {}

  /** Asks once nothing else was asked for a moment. */
  ask(question: (signal: AbortSignal) => Promise<Answer>, then: (answer: Answer) => void, failed: (error: unknown) => void): void {
    this.stop();
    const running = new AbortController();
    this.running = running;
    this.timer = this.clock.set(() => {
      question(running.signal).then(
        (answer) => {
          if (this.running === running) then(answer);
        },
        (error: unknown) => {
          if (this.running === running) failed(error);
        },
      );
    }, this.wait);
  }

  stop(): void {
    if (this.timer !== undefined) this.clock.clear(this.timer);
    this.running?.abort();
    this.timer = this.running = undefined;
  }
}
