/** A configuration by its address: which version is meant, and what of it is still unsaved here. */
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";

import { ApiError } from "@/api/client";
import { configurationQuery, versionQuery } from "@/api/configurationQueries";
import type { ConfigurationSummary } from "@/api/configurationTypes";
import { ButtonLink } from "@/components/Button";
import { Failed, Outlines } from "@/components/Outcome";
import { Page, Panel } from "@/components/Panel";
import { useTitle } from "@/shell/useTitle";

import { readDraft } from "./draft/drafts";
import { Editor } from "./Editor";
import classes from "./Editor.module.css";
import { t } from "./texts";

const route = getRouteApi("/configurations/$configuration");

export function ConfigurationPage() {
  const { configuration: id } = route.useParams();
  const { version } = route.useSearch();
  const configuration = useQuery(configurationQuery(id));
  useTitle(
    configuration.data === undefined ? t("configuration") : t("nameConfiguration", { name: configuration.data.name }),
  );
  if (configuration.data === undefined) {
    const missing = configuration.error instanceof ApiError && configuration.error.status === 404;
    return (
      <Page>
        {configuration.error === null ? (
          <Outlines count={12} height={30} label={t("readingTheConfiguration")} />
        ) : (
          <Panel>
            <Failed
              alone
              what={missing ? t("thisConfigurationDoesNotExist") : t("theConfigurationCouldNotBe")}
              error={missing ? null : configuration.error}
              {...(missing ? {} : { retry: () => void configuration.refetch() })}
            />
          </Panel>
        )}
      </Page>
    );
  }
  return <Opened key={`${id} ${version ?? ""}`} configuration={configuration.data} viewed={version ?? null} />;
}

/** The version in view is chosen once: what somebody saves later must not pull the text away from under the reader. */
function Opened({ configuration, viewed }: { configuration: ConfigurationSummary; viewed: number | null }) {
  const [number] = useState(
    () => viewed ?? (configuration.builtin ? null : readDraft(configuration.id)?.base) ?? configuration.latest.number,
  );
  const version = useQuery(versionQuery(configuration.id, number));
  if (version.data !== undefined)
    return <Editor configuration={configuration} version={version.data} viewed={viewed} />;
  return (
    <Page>
      {version.error === null ? (
        <Outlines count={12} height={30} label={t("readingVersion", { number })} />
      ) : (
        <Panel>
          <Failed
            alone
            what={t("versionCouldNotBeRead", { number })}
            error={version.error}
            retry={() => void version.refetch()}
          />
          {version.error instanceof ApiError && version.error.status === 404 ? (
            <p className={classes.failure}>
              <ButtonLink to="/configurations/$configuration" params={{ configuration: configuration.id }}>
                {t("theNewestVersion")}
              </ButtonLink>
            </p>
          ) : null}
        </Panel>
      )}
    </Page>
  );
}
