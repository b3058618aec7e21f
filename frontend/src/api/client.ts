/**
 * The only place that calls `fetch`. Adds the CSRF token to writes, turns every failure into an `ApiError` with the
 * server's sentence, and lets a caller abort.
 */
import { language } from "@/languages/language";

import { t } from "./texts";
import type { ApiErrorBody } from "./types";

export class ApiError extends Error {
  readonly status: number;
  readonly body: ApiErrorBody & Record<string, unknown>;

  constructor(status: number, body: ApiErrorBody & Record<string, unknown>) {
    super(body.message);
    this.name = "ApiError";
    this.status = status;
    this.body = body;
  }
}

const BASE = "/api/v1";
const SENTENCES: Record<number, string> = {
  get 0() {
    return t("theServerDoesNotAnswer");
  },
  get 401() {
    return t("youAreNotSignedIn");
  },
  get 403() {
    return t("yourRoleDoesNotAllow");
  },
  get 404() {
    return t("thisDoesNotExistOr");
  },
  get 413() {
    return t("thisIsLargerThanThe");
  },
  get 502() {
    return t("theServerIsStartingOr");
  },
  get 503() {
    return t("theServerIsBusy");
  },
};

let csrfToken = "";

export function setCsrfToken(token: string): void {
  csrfToken = token;
}

let refusal = (): string | null => null;

/** Asked before every write: why it cannot be sent now, as a sentence, or null. */
export function setRefusal(ask: () => string | null): void {
  refusal = ask;
}

function hex(bytes: number): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(bytes)), (byte) => byte.toString(16).padStart(2, "0")).join(
    "",
  );
}

/** By this id the server's log and traces tell what became of a click (https://www.w3.org/TR/trace-context/). */
function traceparent(): string {
  return `00-${hex(16)}-${hex(8)}-00`;
}

type QueryValue = string | number | boolean | null | undefined;

export function withQuery(path: string, query: Record<string, QueryValue>): string {
  const parts = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    if (value !== undefined && value !== null && value !== "") parts.set(key, String(value));
  }
  const text = parts.toString();
  return text === "" ? path : `${path}?${text}`;
}

/** `/runs/{id}/pods/{namespace}/{name}/` with every part escaped. */
export function pathOf(...parts: (string | number)[]): string {
  return `/${parts.map((part) => encodeURIComponent(String(part))).join("/")}/`;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function errorOf(status: number, text: string): ApiError {
  let parsed: unknown = null;
  try {
    parsed = JSON.parse(text);
  } catch {
    parsed = null;
  }
  if (isRecord(parsed)) {
    const { error, detail, ...rest } = parsed;
    if (isRecord(error) && typeof error.message === "string") {
      return new ApiError(status, {
        ...rest,
        ...error,
        code: typeof error.code === "string" ? error.code : String(status),
        message: error.message,
      });
    }
    if (typeof detail === "string") return new ApiError(status, { ...rest, code: String(status), message: detail });
  }
  return new ApiError(status, {
    code: String(status),
    message: SENTENCES[status] ?? t("theServerAnswered", { status }),
  });
}

interface RequestOptions {
  method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  body?: unknown;
  signal?: AbortSignal;
  /** Milliseconds after which a server that has not answered is given up. */
  within?: number;
}

const READ_WITHIN = 30_000;
const WRITE_WITHIN = 60_000;
const BEING_MADE = "being_made";
const AGAIN_AFTER = 150;
const AGAIN_AT_MOST = 1_000;
const MAKING_TAKES_AT_MOST = 180_000;

/** Of a moment of a run that a worker is still making, the answer is waited for. */
export async function request<T>(path: string, options: RequestOptions = {}): Promise<T> {
  const until = Date.now() + MAKING_TAKES_AT_MOST;
  for (let wait = AGAIN_AFTER; ; wait = Math.min(AGAIN_AT_MOST, wait * 1.3)) {
    try {
      return await requestOnce<T>(path, options);
    } catch (error) {
      if (!(error instanceof ApiError) || error.body.code !== BEING_MADE || Date.now() > until) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, wait));
    options.signal?.throwIfAborted();
  }
}

async function requestOnce<T>(path: string, options: RequestOptions): Promise<T> {
  const { method = "GET", body, signal, within = method === "GET" ? READ_WITHIN : WRITE_WITHIN } = options;
  const refused = method === "GET" ? null : refusal();
  if (refused !== null) throw new ApiError(0, { code: "0", message: refused });
  const headers = new Headers({ Accept: "application/json", "Accept-Language": language() });
  if (method !== "GET") headers.set("X-CSRFToken", csrfToken);
  headers.set("traceparent", traceparent());
  const isForm = body instanceof FormData;
  if (body !== undefined && !isForm) headers.set("Content-Type", "application/json");
  const late = AbortSignal.timeout(within);
  let response: Response;
  let text: string;
  try {
    response = await fetch(BASE + path, {
      method,
      headers,
      credentials: "same-origin",
      signal: signal ? AbortSignal.any([signal, late]) : late,
      ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
    });
    text = await response.text();
  } catch (error) {
    if (late.aborted)
      throw new ApiError(0, {
        code: "no_answer",
        message: t("theServerHasNotAnswered", { count: Math.round(within / 1000) }),
      });
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw errorOf(0, "");
  }
  if (!response.ok || (response.status === 202 && method === "GET")) throw errorOf(response.status, text);
  return (text === "" ? undefined : JSON.parse(text)) as T;
}

export interface Upload {
  promise: Promise<unknown>;
  abort: () => void;
}

/** An upload that tells its progress; `fetch` cannot do that for a request body. */
export function upload(path: string, file: File, onProgress: (sent: number, total: number) => void): Upload {
  const xhr = new XMLHttpRequest();
  const promise = new Promise<unknown>((resolve, reject) => {
    xhr.upload.onprogress = (event) => onProgress(event.loaded, event.lengthComputable ? event.total : file.size);
    xhr.onload = () => {
      if (xhr.status >= 200 && xhr.status < 300) resolve(JSON.parse(xhr.responseText));
      else reject(errorOf(xhr.status, xhr.responseText));
    };
    xhr.onerror = () => reject(errorOf(0, ""));
    xhr.onabort = () => reject(new DOMException("The upload was cancelled.", "AbortError"));
  });
  xhr.open("POST", BASE + path);
  xhr.setRequestHeader("X-CSRFToken", csrfToken);
  xhr.setRequestHeader("Accept", "application/json");
  xhr.setRequestHeader("Accept-Language", language());
  const form = new FormData();
  form.append("file", file, file.name);
  xhr.send(form);
  return { promise, abort: () => xhr.abort() };
}
