import { notify } from "@/shell/notify";

import { t } from "../texts";

/** To the clipboard, and says so; browsers allow it only on pages served over HTTPS or from this machine. */
export async function copyText(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    notify({ kind: "ok", title: t("copied") });
  } catch {
    notify({ title: t("notCopied"), text: t("theBrowserAllowsItOnly") });
  }
}
