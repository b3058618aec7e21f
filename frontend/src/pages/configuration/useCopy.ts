import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";

import { configurationListQuery, createConfiguration } from "@/api/configurationQueries";
import type { ConfigurationSummary, VersionDetail } from "@/api/configurationTypes";
import { notify, notifyError } from "@/shell/notify";

import { t } from "./texts";
import { freeName } from "./words";

/** Makes a copy of the version in view and opens it. */
export function useCopy(configuration: ConfigurationSummary, version: VersionDetail): () => Promise<void> {
  const client = useQueryClient();
  const navigate = useNavigate();
  return async () => {
    try {
      const taken = (await client.query(configurationListQuery(200))).results.map((one) => one.name);
      const made = await createConfiguration({
        name: freeName(t("nameCopy", { name: configuration.name }), taken),
        text: version.text,
        description: "",
        comment: t("copyOfV", { name: configuration.name, number: version.number }),
      });
      await client.invalidateQueries({ queryKey: ["configurations"] });
      notify({ kind: "ok", title: t("isYoursToEdit", { name: made.name }) });
      await navigate({ to: "/configurations/$configuration", params: { configuration: made.id } });
    } catch (error) {
      notifyError(t("noCopyWasMade"), error);
    }
  };
}
