/**
 * Parts of the UI that are fetched after the first picture. One that cannot be fetched is asked for again, and takes
 * nothing else of the page with it; all of them are fetched while nothing else is to be done, so that a page whose server
 * has gone away has what it needs.
 */
type Load<Value> = () => Promise<Value>;
type PartState<Value> = { value: Value } | "missing" | null;

const everyPart: Part<unknown>[] = [];
const missing = new Set<Part<unknown>>();

export class Part<Value> {
  private readonly load: Load<Value>;
  private readonly watchers = new Set<() => void>();
  private state: PartState<Value> = null;
  private promise: Promise<void> | null = null;

  constructor(load: Load<Value>) {
    this.load = load;
    everyPart.push(this);
  }

  readonly watch = (callback: () => void): (() => void) => {
    this.watchers.add(callback);
    return () => this.watchers.delete(callback);
  };

  readonly getState = (): PartState<Value> => this.state;

  /** Never rejects: what came of it is the state. The same promise for as long as the part is under way. */
  readonly fetch = (): Promise<void> => {
    if (this.state !== null && this.state !== "missing") return Promise.resolve();
    this.promise ??= restoreStyles()
      .then(this.load)
      .then(
        (value) => this.become({ value }),
        (error: unknown) => {
          console.warn("A part of the page could not be fetched.", error);
          this.become("missing");
        },
      );
    return this.promise;
  };

  private become(state: PartState<Value>): void {
    this.promise = null;
    this.state = state;
    if (state === "missing") missing.add(this);
    else missing.delete(this);
    for (const watcher of this.watchers) watcher();
  }
}

/** Style sheets that did not come. Vite asks for each of them once only, and then takes it for there. */
const brokenStyles = new Set<string>();

export function rememberBrokenStyles(): void {
  window.addEventListener(
    "error",
    ({ target }) => {
      if (!(target instanceof HTMLLinkElement) || target.rel !== "stylesheet") return;
      brokenStyles.add(target.href);
      target.remove();
    },
    true,
  );
}

async function restoreStyles(): Promise<void> {
  await Promise.all(
    [...brokenStyles].map(
      (href) =>
        new Promise<void>((resolve, reject) => {
          const link = document.createElement("link");
          link.rel = "stylesheet";
          link.crossOrigin = "";
          link.href = href;
          link.onload = () => {
            brokenStyles.delete(href);
            resolve();
          };
          link.onerror = () => reject(new Error(`${href} could not be fetched`));
          document.head.append(link);
        }),
    ),
  );
}

/** Fetches all parts one after the other, also those that a part brings with it. Stops at the first that does not come. */
export async function fetchAllParts(rest: () => Promise<void>): Promise<void> {
  for (const part of everyPart) {
    await rest();
    await part.fetch();
    if (part.getState() === "missing") return;
  }
}

/** Asks again for what did not come; answers whether everything is there now. */
export async function fetchMissingParts(): Promise<boolean> {
  await Promise.all([...missing].map((part) => part.fetch()));
  return missing.size === 0;
}

/** Until the first picture stands; then one part per pause. Who saves data gets a part when it is wanted. */
const AFTER_THE_FIRST_PICTURE = 1_500;

export function fetchPartsAtRest(): void {
  if ("connection" in navigator && (navigator.connection as { saveData?: boolean }).saveData === true) return;
  const pause = () =>
    new Promise<void>((resolve) => {
      if (typeof requestIdleCallback === "function") requestIdleCallback(() => resolve(), { timeout: 1_000 });
      else setTimeout(resolve, 100);
    });
  setTimeout(() => void fetchAllParts(pause), AFTER_THE_FIRST_PICTURE);
}
