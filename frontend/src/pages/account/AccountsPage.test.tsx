// @vitest-environment jsdom
import { cleanup, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";

import type { Account } from "@/api/accounts";
import { askedLast, button, fill, isOff, press, reads, sent } from "@/testing/press";
import { type Answers, ok, refused, serve, showAt } from "@/testing/showPage";

import { AccountsPage } from "./AccountsPage";

const anAccount = (username: string, more: Partial<Account> = {}): Account =>
  ({
    id: username.length,
    username,
    role: "viewer",
    superuser: false,
    active: true,
    last_login: null,
    sessions: 1,
    tokens: 0,
    openid: false,
    ...more,
  }) as Account;

const LINK = { path: "/login/link/abc", expires_at: "2026-11-30T10:00:00Z" };
const VERA = anAccount("vera");

async function accounts(rows: Account[], answers: Answers = {}, address = "/accounts", count = rows.length) {
  const calls = serve({
    "GET /me/": ok({ username: "ada", role: "admin" }),
    "GET /accounts/": ok({ count, offset: 0, limit: 50, results: rows }),
    ...answers,
  });
  const page = await showAt(address, "/accounts", <AccountsPage />);
  const first = rows[0];
  if (first !== undefined) await screen.findByText(first.username);
  return { calls, ...page };
}

const alert = async () => (await screen.findByRole("alert")).textContent;
const roleOf = (name: string) => screen.getByLabelText<HTMLSelectElement>(`Role of ${name}`);

describe("the page of accounts", () => {
  afterEach(() => {
    cleanup();
    vi.unstubAllGlobals();
  });

  it("makes an account, lists it and shows its link once", async () => {
    const copied: string[] = [];
    vi.stubGlobal("navigator", { clipboard: { writeText: (text: string) => Promise.resolve(copied.push(text)) } });
    const { calls } = await accounts([VERA], { "POST /accounts/": ok({ ...anAccount("otto"), link: LINK }) });
    expect(isOff("Create the account")).toBe(true);
    fill("Name", "   ");
    expect(isOff("Create the account")).toBe(true);
    fill("Name", " otto ");
    fill("Role", "editor");
    press("Create the account");
    const link = await screen.findByLabelText<HTMLInputElement>("The login link of otto");
    expect(link.value).toBe(`${window.location.origin}/login/link/abc`);
    expect(sent(calls)).toEqual([["POST /accounts/", { username: "otto", role: "editor" }]]);
    expect(screen.getByText(/^Send this link to otto\. .*2026-11-30 10:00/)).toBeTruthy();
    expect(screen.getByLabelText<HTMLInputElement>("Name").value).toBe("");
    await waitFor(() => expect(reads(calls, "/accounts/")).toBe(2));
    press("Copy");
    await screen.findByRole("button", { name: "Copied" });
    expect(copied).toEqual([link.value]);
  });

  it("keeps what was typed of an account that is refused, and says why", async () => {
    await accounts([VERA], { "POST /accounts/": refused("There is an account vera already.") });
    fill("Name", "vera");
    press("Create the account");
    expect(await alert()).toBe("The account was not created.There is an account vera already.");
    expect(screen.getByLabelText<HTMLInputElement>("Name").value).toBe("vera");
    expect(isOff("Create the account")).toBe(false);
  });

  it("gives another role, and reads the list and who one is again", async () => {
    const { calls } = await accounts([VERA], { "PATCH /accounts/4/": ok(VERA) });
    const asked = reads(calls, "/me/");
    fireEvent.change(roleOf("vera"), { target: { value: "operator" } });
    await waitFor(() => expect(reads(calls, "/accounts/")).toBe(2));
    expect(sent(calls)).toEqual([["PATCH /accounts/4/", { role: "operator" }]]);
    expect(reads(calls, "/me/")).toBe(asked + 1);
  });

  it("shows the old role of one whose role is refused", async () => {
    await accounts([VERA], { "PATCH /accounts/4/": refused("This is the last admin.") });
    fireEvent.change(roleOf("vera"), { target: { value: "admin" } });
    expect(await alert()).toBe("vera was not changed.This is the last admin.");
    expect(roleOf("vera").value).toBe("viewer");
  });

  it("asks before it disables, and lets be", async () => {
    const { calls } = await accounts([VERA]);
    press("Disable vera");
    const question = screen.getByRole("group", { name: "Disable vera" });
    expect(question.textContent).toMatch(/^This ends the sessions of vera/);
    expect(document.activeElement?.textContent).toBe("Keep it");
    press("Keep it");
    expect(screen.queryByRole("group", { name: "Disable vera" })).toBeNull();
    expect(document.activeElement).toBe(button("Disable vera"));
    expect(sent(calls)).toEqual([]);
  });

  it("goes on asking when the role that was on its way is there", async () => {
    const { calls } = await accounts([VERA], { "PATCH /accounts/4/": ok(VERA) });
    fireEvent.change(roleOf("vera"), { target: { value: "operator" } });
    press("Disable vera");
    await waitFor(() => expect(reads(calls, "/accounts/")).toBe(2));
    await waitFor(() => expect(roleOf("vera").disabled).toBe(false));
    expect(screen.getByRole("group", { name: "Disable vera" })).toBeTruthy();
  });

  it("disables, after which the login link that was shown is none any more", async () => {
    let active = true;
    const { calls } = await accounts([], {
      "GET /accounts/": () => ok({ count: 1, offset: 0, limit: 50, results: [anAccount("vera", { active })] })(),
      "POST /accounts/4/login-link/": ok(LINK),
      "PATCH /accounts/4/": () => {
        active = false;
        return { status: 200, body: anAccount("vera", { active }) };
      },
    });
    await screen.findByText("vera");
    press("Another login link for vera");
    await screen.findByLabelText("The login link of vera");
    press("Disable vera");
    fireEvent.click(within(screen.getByRole("group", { name: "Disable vera" })).getByText("Disable"));
    await screen.findByText("disabled");
    expect(sent(calls)).toEqual([
      ["POST /accounts/4/login-link/", {}],
      ["PATCH /accounts/4/", { active: false }],
    ]);
    expect(screen.queryByLabelText("The login link of vera")).toBeNull();
    expect(screen.queryByRole("button", { name: "Another login link for vera" })).toBeNull();
  });

  it("says why one was not disabled", async () => {
    await accounts([VERA], { "PATCH /accounts/4/": refused("Nobody disables themselves.") });
    press("Disable vera");
    fireEvent.click(within(screen.getByRole("group", { name: "Disable vera" })).getByText("Disable"));
    expect(await alert()).toBe("vera was not changed.Nobody disables themselves.");
    expect(screen.queryByRole("group", { name: "Disable vera" })).toBeNull();
  });

  it("enables one that is disabled", async () => {
    const { calls } = await accounts([anAccount("vera", { active: false })], { "PATCH /accounts/4/": ok(VERA) });
    press("Enable vera");
    await waitFor(() => expect(reads(calls, "/accounts/")).toBe(2));
    expect(sent(calls)).toEqual([["PATCH /accounts/4/", { active: true }]]);
  });

  it("says why there is no login link", async () => {
    await accounts([VERA], { "POST /accounts/4/login-link/": refused("vera logs in by OpenID Connect.") });
    press("Another login link for vera");
    expect(await alert()).toBe("There is no new link.vera logs in by OpenID Connect.");
  });

  it("offers no role of a superuser, and shows that somebody has none", async () => {
    await accounts([anAccount("root", { superuser: true, role: null }), anAccount("nobody", { role: null })]);
    expect([roleOf("root").value, roleOf("root").disabled, roleOf("root").title]).toEqual([
      "admin",
      true,
      "A superuser of Django is always an admin.",
    ]);
    expect([roleOf("nobody").selectedOptions[0]?.textContent, roleOf("nobody").disabled]).toEqual(["no role", false]);
  });

  it("searches from the first window on, and leafs", async () => {
    const { calls, address } = await accounts([VERA], {}, "/accounts?offset=50", 120);
    expect(askedLast(calls, "/accounts/")).toEqual({ offset: "50", limit: "50" });
    press("After");
    await waitFor(() => expect(askedLast(calls, "/accounts/")).toEqual({ offset: "100", limit: "50" }));
    await waitFor(() => expect(isOff("After")).toBe(true));
    press("Before");
    await waitFor(() => expect(askedLast(calls, "/accounts/")).toEqual({ offset: "50", limit: "50" }));
    fill("Search names", " ver ");
    await waitFor(() => expect(address()).toBe("/accounts?q=ver"));
    await waitFor(() => expect(askedLast(calls, "/accounts/")).toEqual({ offset: "0", limit: "50", q: "ver" }));
    press("After");
    await waitFor(() => expect(address()).toBe("/accounts?q=ver&offset=50"));
    fill("Search names", "");
    await waitFor(() => expect(address()).toBe("/accounts"));
  });

  it("says that nobody is called so", async () => {
    await accounts([], {}, "/accounts?q=xyz");
    expect(await screen.findByText("No account has such a name.")).toBeTruthy();
  });

  it("reads the list again that was refused", async () => {
    let isBusy = true;
    const { calls } = await accounts([], {
      "GET /accounts/": () =>
        isBusy ? refused("The database is busy.", 503)() : ok({ count: 1, offset: 0, limit: 50, results: [VERA] })(),
    });
    expect(await alert()).toBe("The accounts could not be read.The database is busy.Try again");
    isBusy = false;
    press("Try again");
    await screen.findByText("vera");
    expect([screen.queryByRole("alert"), reads(calls, "/accounts/")]).toEqual([null, 2]);
  });
});
