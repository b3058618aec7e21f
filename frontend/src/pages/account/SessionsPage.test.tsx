// @vitest-environment jsdom
import { cleanup, fireEvent, screen, waitFor } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";

import type { Session } from "@/api/accounts";
import { socket } from "@/live/live";
import { fill, isOff, press, reads, sent } from "@/testing/press";
import { type Answers, ok, refused, serve, showAt } from "@/testing/showPage";

import { SessionsPage } from "./SessionsPage";

const aSession = (id: number, more: Partial<Session> = {}): Session => ({
  id,
  current: false,
  agent: "curl/8.5",
  address: `10.0.0.${id}`,
  how: "password",
  started_at: "2026-11-28T10:00:00Z",
  last_seen_at: "2026-11-28T11:00:00Z",
  ...more,
});
const HERE = aSession(1, { current: true });

async function sessions(answers: Answers = {}) {
  const calls = serve({
    "GET /me/": ok({ username: "vera", role: "viewer", csrf_token: "token-of-the-form" }),
    "GET /sessions/": ok([HERE, aSession(2), aSession(3, { address: "" })]),
    "GET /me/password/": ok({ refused: "", asks_old: true }),
    ...answers,
  });
  await showAt("/sessions", "/sessions", <SessionsPage />);
  await screen.findByText("this one");
  return calls;
}

const alert = async () => (await screen.findByRole("alert")).textContent;
const END = /^End .*, 10\.0\.0\.2$/;

describe("the page of sessions", () => {
  afterEach(() => {
    cleanup();
    vi.unstubAllGlobals();
  });

  it("ends another session, and offers no end of this one", async () => {
    const calls = await sessions({ "DELETE /sessions/2/": ok(null) });
    expect(screen.queryByRole("button", { name: /10\.0\.0\.1/ })).toBeNull();
    expect(screen.getByRole("button", { name: /unknown address$/ })).toBeTruthy();
    press(END);
    await waitFor(() => expect(reads(calls, "/sessions/")).toBe(2));
    expect(sent(calls)).toEqual([["DELETE /sessions/2/", undefined]]);
  });

  it("says why one did not end, beside it, and looks whether it is there", async () => {
    const calls = await sessions({ "DELETE /sessions/2/": refused("This session has ended.", 404) });
    press(END);
    expect(await alert()).toBe("Nothing was ended.This session has ended.");
    expect(screen.getByRole("alert").closest("li")?.textContent).toContain("10.0.0.2");
    await waitFor(() => expect(reads(calls, "/sessions/")).toBe(2));
  });

  it("ends all others, and says how many", async () => {
    let left = [HERE, aSession(2), aSession(3)];
    const calls = await sessions({
      "GET /sessions/": () => ok(left)(),
      "POST /sessions/end-others/": () => {
        left = [HERE];
        return { status: 200, body: { ended: 2 } };
      },
    });
    press("End all others");
    expect((await screen.findByText("2 sessions have ended.")).getAttribute("role")).toBe("status");
    await waitFor(() => expect(isOff("End all others")).toBe(true));
    expect(sent(calls)).toEqual([["POST /sessions/end-others/", {}]]);
  });

  it("says why the others did not end", async () => {
    await sessions({ "POST /sessions/end-others/": refused("The database is busy.", 503) });
    press("End all others");
    expect(await alert()).toBe("Nothing was ended.The database is busy.");
  });

  it("reads the sessions again that were refused", async () => {
    let isBusy = false;
    const calls = await sessions({ "GET /sessions/": () => (isBusy ? refused("Busy.", 503)() : ok([HERE])()) });
    cleanup();
    isBusy = true;
    await showAt("/sessions", "/sessions", <SessionsPage />);
    expect(await alert()).toBe("Your sessions could not be read.Busy.Try again");
    isBusy = false;
    press("Try again");
    await screen.findByText("this one");
    expect(reads(calls, "/sessions/")).toBe(3);
  });

  it("logs out with an ordinary form, which has the server's token", async () => {
    await sessions();
    const form = (await screen.findByRole("button", { name: "Log out" })).closest("form");
    expect([form?.getAttribute("action"), form?.method]).toEqual(["/logout", "post"]);
    expect(Object.fromEntries(new FormData(form ?? undefined))).toEqual({ csrfmiddlewaretoken: "token-of-the-form" });
  });

  it("leads an admin to accounts and the audit log, and nobody else", async () => {
    await sessions();
    expect(screen.queryByRole("link", { name: "Audit log" })).toBeNull();
    cleanup();
    await sessions({ "GET /me/": ok({ username: "ada", role: "admin" }) });
    expect((await screen.findByRole("link", { name: "Accounts" })).getAttribute("href")).toBe("/accounts");
    expect(screen.getByRole("link", { name: "Audit log" }).getAttribute("href")).toBe("/audit");
  });
});

describe("one's password", () => {
  afterEach(() => {
    cleanup();
    vi.unstubAllGlobals();
  });
  const field = (label: string) => screen.findByLabelText<HTMLInputElement>(label);

  it("is changed, after which the fields are empty and the socket begins anew", async () => {
    const reopened = vi.spyOn(socket, "reopen").mockImplementation(() => undefined);
    const calls = await sessions({ "POST /me/password/": ok({ ended: 2 }) });
    await field("Password now");
    expect(isOff("Change the password")).toBe(true);
    fill("New password", "correct horse");
    expect(isOff("Change the password")).toBe(true);
    fill("Password now", "battery staple");
    fireEvent.click(screen.getByLabelText("Show what I type"));
    expect([(await field("Password now")).type, (await field("New password")).type]).toEqual(["text", "text"]);
    press("Change the password");
    const said = await screen.findByText(/^Your password was changed\./);
    expect(said.textContent).toBe("Your password was changed. 2 other sessions have ended.");
    expect(sent(calls)).toEqual([["POST /me/password/", { old: "battery staple", new: "correct horse" }]]);
    expect([(await field("Password now")).value, (await field("New password")).value]).toEqual(["", ""]);
    expect((await field("New password")).type).toBe("password");
    expect(reopened).toHaveBeenCalledOnce();
    await waitFor(() => expect([reads(calls, "/sessions/"), reads(calls, "/me/password/")]).toEqual([2, 2]));
  });

  it("that is refused stays typed, with the server's sentence", async () => {
    await sessions({ "POST /me/password/": refused("This password is too common.", 400) });
    await field("Password now");
    fill("Password now", "battery staple");
    fill("New password", "12345");
    press("Change the password");
    expect(await alert()).toBe("The password was not changed.This password is too common.");
    expect((await field("New password")).value).toBe("12345");
  });

  it("is set for the first time without another one", async () => {
    vi.spyOn(socket, "reopen").mockImplementation(() => undefined);
    const calls = await sessions({
      "GET /me/password/": ok({ refused: "", asks_old: false }),
      "POST /me/password/": ok({ ended: 0 }),
    });
    await field("New password");
    expect(screen.queryByLabelText("Password now")).toBeNull();
    fill("New password", "correct horse");
    press("Set the password");
    expect((await screen.findByText(/^Your password/)).textContent).toContain("There was no other session to end.");
    expect(sent(calls)).toEqual([["POST /me/password/", { old: "", new: "correct horse" }]]);
  });

  it("cannot be changed where the server says so", async () => {
    await sessions({ "GET /me/password/": ok({ refused: "Your provider has your password.", asks_old: false }) });
    expect(await screen.findByText("Your provider has your password.")).toBeTruthy();
    expect(screen.queryByLabelText("New password")).toBeNull();
  });

  it("is asked about again where that was refused", async () => {
    let isBusy = true;
    await sessions({
      "GET /me/password/": () => (isBusy ? refused("Busy.", 503)() : ok({ refused: "", asks_old: true })()),
    });
    expect(await alert()).toBe("Whether your password can be changed could not be read.Busy.Try again");
    isBusy = false;
    press("Try again");
    expect(await field("Password now")).toBeTruthy();
  });
});
