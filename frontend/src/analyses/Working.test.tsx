// @vitest-environment jsdom
import { cleanup, screen, waitFor } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";

import { press, sent } from "@/testing/press";
import { type Answers, ok, refused, serve, showAt } from "@/testing/showPage";

import { useAnalysis } from "./useAnalysis";
import { Working } from "./Working";

const QUESTION = { name: "what_would_help", arguments: { namespace: "a", name: "b" }, position: 3 } as const;
const WORDS = { what: "What would help", failed: "It could not be tried." };
const asked = (status: string, id = "7") => ({ id, run: "r", status, position: 3, result: null, error: null });

function Asking() {
  return <Working of={useAnalysis("r", QUESTION)} {...WORDS} />;
}

async function asking(answers: Answers) {
  const calls = serve({ "POST /runs/r/analyses/": ok(asked("pending")), ...answers });
  await showAt("/a", "/a", <Asking />);
  await screen.findByText(/^Waits for a worker…/);
  return calls;
}

describe("a question that is not answered yet", () => {
  afterEach(() => {
    cleanup();
    vi.unstubAllGlobals();
  });

  it("is cancelled, and can be asked again", async () => {
    let status = "pending";
    let asks = 6;
    const calls = await asking({
      "POST /runs/r/analyses/": () => ok(asked("pending", `${++asks}`))(),
      "GET /runs/r/analyses/8/": ok(asked("pending", "8")),
      "GET /runs/r/analyses/7/": () => ok(asked(status))(),
      "DELETE /runs/r/analyses/7/": () => {
        status = "cancelled";
        return ok(asked(status))();
      },
    });
    press("Cancel");
    expect(await screen.findByText(/It was cancelled\./)).toBeTruthy();
    expect(sent(calls).at(-1)?.[0]).toBe("DELETE /runs/r/analyses/7/");
    press("Try again");
    await screen.findByText(/^Waits for a worker…/);
    expect(sent(calls).filter(([what]) => what.startsWith("POST"))).toHaveLength(2);
  });

  it("says why it is not cancelled, and waits on", async () => {
    await asking({
      "GET /runs/r/analyses/7/": ok(asked("pending")),
      "DELETE /runs/r/analyses/7/": refused("Who asked a question cancels it, or an operator or editor."),
    });
    press("Cancel");
    await waitFor(() => expect(screen.getByRole("alert").textContent).toMatch(/^The question was not cancelled\./));
    expect(screen.getByText(/^Waits for a worker…/)).toBeTruthy();
  });
});
