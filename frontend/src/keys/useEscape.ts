import { useKeys } from "./useKeys";

interface Closing {
  label: string;
  group: string;
  close: () => void;
}

/** Esc closes what floats over a page: from its fields, and also before the focus has moved into it. */
export function useEscape(opened: boolean, { label, group, close }: Closing): void {
  useKeys(opened ? [{ keys: "Escape", label, group, everywhere: true, floats: true, run: close }] : []);
}
