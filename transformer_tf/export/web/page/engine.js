/** The model, which computes in a worker so that the page stays responsive. */
export class Engine {
  /** @param {string} script The worker's. */
  constructor(script) {
    const address = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
    this.worker = new Worker(address);
    this.number = 0;
    /** @type {Map<number, {resolve: (answer: any) => void, reject: (error: Error) => void}>} */
    this.waiting = new Map();
    this.worker.onmessage = ({ data: { number, error, ...answer } }) => {
      const { resolve, reject } = this.waiting.get(number);
      this.waiting.delete(number);
      if (error) reject(new Error(error));
      else resolve(answer);
    };
  }

  /**
   * @param {string} method A method of `worker.js`.
   * @param {unknown} argument
   * @param {Transferable[]} [transferred]
   * @returns {Promise<{result: any, milliseconds: number}>}
   */
  ask(method, argument, transferred = []) {
    const number = this.number++;
    this.worker.postMessage({ number, method, argument }, transferred);
    return new Promise((resolve, reject) => this.waiting.set(number, { resolve, reject }));
  }
}
