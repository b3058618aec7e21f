// @vitest-environment jsdom
import { createRoot } from "react-dom/client";
import { expect, it, vi } from "vitest";

import { keyboard } from "./registry";
import { useKeys } from "./useKeys";

const press = { key: "Escape", ctrlKey: false, metaKey: false, altKey: false };

function Page({ name, run }: { name: string; run: () => void }) {
  useKeys([{ keys: "Escape", label: name, group: "g", run }]);
  return <p key={name}>{name}</p>;
}

it("has the keys of a page as soon as the page is in the document, and no longer those of the one before", async () => {
  const frame = document.createElement("div");
  const root = createRoot(frame);
  const seen: (string | undefined)[] = [];
  const changed = () =>
    new Promise<void>((resolve) => {
      const observer = new MutationObserver(() => {
        observer.disconnect();
        seen.push(keyboard.resolve(press, false, 0)?.label);
        resolve();
      });
      observer.observe(frame, { childList: true, subtree: true });
    });
  for (const name of ["run", "pod"]) {
    const shown = changed();
    root.render(<Page key={name} name={name} run={vi.fn()} />);
    await shown;
  }
  expect(seen).toEqual(["run", "pod"]);
  root.unmount();
});
