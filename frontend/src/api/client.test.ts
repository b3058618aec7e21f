import { afterEach, describe, expect, it, vi } from "vitest";

import { ApiError, errorOf, pathOf, request, setCsrfToken, setRefusal, withQuery } from "./client";

describe("addresses", () => {
  it("escape every part", () =>
    expect(pathOf("runs", "a/b", "pods", "ns", "ü x")).toBe("/runs/a%2Fb/pods/ns/%C3%BC%20x/"));
  it("leave out what is not asked", () => {
    expect(withQuery("/runs/", { offset: 0, q: "", snapshot: undefined, equal: false })).toBe(
      "/runs/?offset=0&equal=false",
    );
    expect(withQuery("/runs/", {})).toBe("/runs/");
  });
});

describe("errors", () => {
  it("carry the server's sentence and place", () => {
    const error = errorOf(
      422,
      JSON.stringify({ error: { code: "invalid", message: "weight is negative", path: "a.b", line: 3 }, who: "mira" }),
    );
    expect(error.message).toBe("weight is negative");
    expect(error.body).toMatchObject({ code: "invalid", path: "a.b", line: 3, who: "mira" });
  });
  it.each([
    [413, "<html>", "This is larger than the server accepts."],
    [500, "", "The server answered 500."],
    [403, '{"detail": "No."}', "No."],
    [404, "[]", "This does not exist, or no longer."],
  ])("%d with body %j", (status, text, want) => expect(errorOf(status, text).message).toBe(want));
});

describe("a request", () => {
  afterEach(() => vi.unstubAllGlobals());

  it("sends the CSRF token with writes only", async () => {
    const calls: Headers[] = [];
    vi.stubGlobal("fetch", (_url: string, init: RequestInit) => {
      calls.push(new Headers(init.headers));
      return Promise.resolve(new Response('{"ok":true}', { status: 200 }));
    });
    setCsrfToken("secret");
    await request("/me/");
    await request("/runs/", { method: "POST", body: { a: 1 } });
    expect(calls.map((headers) => headers.get("X-CSRFToken"))).toEqual([null, "secret"]);
    expect(calls[1]?.get("Content-Type")).toBe("application/json");
  });
  it("turns an unreachable server into a sentence", async () => {
    vi.stubGlobal("fetch", () => Promise.reject(new TypeError("Failed to fetch")));
    await expect(request("/me/")).rejects.toMatchObject({ status: 0, message: "The server does not answer." });
  });
  it("writes nothing to a server that is known not to answer, and still reads", async () => {
    const asked: string[] = [];
    vi.stubGlobal("fetch", (_url: string, init: RequestInit) => {
      asked.push(init.method ?? "");
      return Promise.resolve(new Response("{}", { status: 200 }));
    });
    setRefusal(() => "Nothing was sent.");
    await expect(request("/runs/", { method: "POST" })).rejects.toMatchObject({
      status: 0,
      message: "Nothing was sent.",
    });
    await request("/runs/");
    setRefusal(() => null);
    await request("/runs/", { method: "POST" });
    expect(asked).toEqual(["GET", "POST"]);
  });
  it("answers an empty body with undefined and a failure with an ApiError", async () => {
    vi.stubGlobal("fetch", () => Promise.resolve(new Response(null, { status: 204 })));
    expect(await request("/x/", { method: "DELETE" })).toBeUndefined();
    vi.stubGlobal("fetch", () =>
      Promise.resolve(new Response('{"error":{"code":"gone","message":"Gone."}}', { status: 404 })),
    );
    await expect(request("/x/")).rejects.toBeInstanceOf(ApiError);
  });
});
