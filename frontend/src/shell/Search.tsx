/** `/` and Ctrl K: pods of the run in view (the server searches), its nodes (already here), runs, pages. */
import "@mantine/core/styles/CloseButton.layer.css";
import "@mantine/core/styles/Overlay.layer.css";
import "@mantine/core/styles/Paper.layer.css";
import "@mantine/core/styles/ScrollArea.layer.css";
import "@mantine/core/styles/Input.layer.css";
import "@mantine/core/styles/ModalBase.layer.css";
import "@mantine/core/styles/Modal.layer.css";
import "@mantine/spotlight/styles.layer.css";

import { useDebouncedValue } from "@mantine/hooks";
import { createSpotlight, Spotlight } from "@mantine/spotlight";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import { useEffect } from "react";

import { runPodsQuery, runsQuery } from "@/api/queries";
import { PodName } from "@/components/Chip";
import { Icon } from "@/components/Icon";
import { placeWord, queueOf } from "@/components/states";
import { matches, parseFilter } from "@/filter/grammar";
import { storeOf } from "@/live/live";

import classes from "./Search.module.css";
import { t } from "./texts";

const [store, spotlight] = createSpotlight();
const SHOWN = 8;
/** It stands at once: while it unfolded, its frames would come between the first keys and their pictures. */
const AT_ONCE = { duration: 0 };
/** Wheel and touch are kept from the page below; to hide its scrollbar, too, the styles of the whole page would be worked out anew. */
const KEEP_SCROLLBAR = { removeScrollBar: false };

const PAGES = [
  {
    get label() {
      return t("home");
    },
    to: "/",
  },
  {
    get label() {
      return t("runs");
    },
    to: "/runs",
  },
  {
    get label() {
      return t("waitingPods");
    },
    to: "/waiting",
  },
  {
    get label() {
      return t("configurations");
    },
    to: "/configurations",
  },
] as const;

interface Props {
  opened: boolean;
  query: string;
  onQuery: (query: string) => void;
  onClose: () => void;
}

export default function Search({ opened, query, onQuery, onClose }: Props) {
  const [asked] = useDebouncedValue(query.trim(), 160);
  const { run } = useParams({ strict: false });
  const navigate = useNavigate();
  useEffect(() => {
    if (opened) spotlight.open();
    else spotlight.close();
  }, [opened]);

  const filter = parseFilter(query);
  const searching = opened && asked !== "";
  const pods = useQuery({
    ...runPodsQuery(run ?? "", { q: asked }, 0, SHOWN),
    enabled: searching && run !== undefined,
    placeholderData: keepPreviousData,
  });
  const runs = useQuery({ ...runsQuery(0, 50), enabled: opened });
  const nodeNames = run === undefined || query.trim() === "" ? [] : (storeOf(run).getNodes().table?.names ?? []);
  const nodes = nodeNames.filter((name) => matches(filter, name)).slice(0, SHOWN);
  const foundRuns = (runs.data?.results ?? [])
    .filter((one) => matches(filter, `${one.number} ${one.snapshot.name} ${one.configuration.name}`))
    .slice(0, SHOWN);
  const pages = PAGES.filter((page) => matches(filter, page.label));
  const foundPods = searching && run !== undefined ? (pods.data?.results ?? []) : [];
  const nothing = foundPods.length + nodes.length + foundRuns.length + pages.length === 0;

  return (
    <Spotlight.Root
      store={store}
      query={query}
      onQueryChange={onQuery}
      shortcut={null}
      onSpotlightClose={onClose}
      scrollable
      maxHeight={440}
      overlayProps={{ blur: 0 }}
      transitionProps={AT_ONCE}
      removeScrollProps={KEEP_SCROLLBAR}
      size={600}
      attributes={{ content: { "aria-label": t("search") } }}
      classNames={{
        content: classes.content ?? "",
        overlay: classes.scrim ?? "",
        action: classes.action ?? "",
        actionsGroup: classes.group ?? "",
        search: classes.search ?? "",
      }}
    >
      <Spotlight.Search
        placeholder={t("findPodsNodesRuns")}
        aria-label={t("findPodsNodesRuns")}
        leftSection={<Icon name="search" />}
      />
      <Spotlight.ActionsList>
        {run !== undefined && foundPods.length > 0 ? (
          <Spotlight.ActionsGroup label={t("podsOfThisRun")}>
            {foundPods.map((pod) => (
              <Spotlight.Action
                key={pod.key}
                onClick={() =>
                  void navigate({
                    to: "/runs/$run/pods/$namespace/$name",
                    params: { run, namespace: pod.namespace, name: pod.name },
                  })
                }
              >
                <Icon name={queueOf(pod) ?? "minus"} size={14} />
                <PodName pod={pod} />
                <span className="faint">{pod.namespace}</span>
                <span className="grow" />
                <span className="faint">{placeWord(pod)}</span>
              </Spotlight.Action>
            ))}
          </Spotlight.ActionsGroup>
        ) : null}
        {run !== undefined && nodes.length > 0 ? (
          <Spotlight.ActionsGroup label={t("nodesOfThisRun")}>
            {nodes.map((name) => (
              <Spotlight.Action
                key={name}
                onClick={() => void navigate({ to: "/runs/$run", params: { run }, search: { node: name } })}
              >
                <Icon name="node" size={14} />
                <span className="mono">{name}</span>
              </Spotlight.Action>
            ))}
          </Spotlight.ActionsGroup>
        ) : null}
        {foundRuns.length > 0 ? (
          <Spotlight.ActionsGroup label={t("runs")}>
            {foundRuns.map((one) => (
              <Spotlight.Action
                key={one.id}
                onClick={() => void navigate({ to: "/runs/$run", params: { run: one.id } })}
              >
                <Icon name="play" size={14} />
                <b>{one.snapshot.name}</b>
                <span className="faint">{t("withName", { name: one.configuration.name })}</span>
                <span className="grow" />
                <span className="faint">{one.number}</span>
              </Spotlight.Action>
            ))}
          </Spotlight.ActionsGroup>
        ) : null}
        {pages.length > 0 ? (
          <Spotlight.ActionsGroup label={t("pages")}>
            {pages.map((page) => (
              <Spotlight.Action key={page.to} onClick={() => void navigate({ to: page.to })}>
                <Icon name="chevronRight" size={14} />
                {page.label}
              </Spotlight.Action>
            ))}
          </Spotlight.ActionsGroup>
        ) : null}
        {nothing ? (
          <Spotlight.Empty>{pods.isFetching ? t("searching") : t("nothingMatches", { query })}</Spotlight.Empty>
        ) : null}
      </Spotlight.ActionsList>
      <Spotlight.Footer>
        <span className={classes.footer}>
          <span>
            <kbd>web</kbd> {t("hasTheText")}
          </span>
          <span>
            <kbd>!ci</kbd> {t("hasItNot")}
          </span>
          <span>
            <kbd>-l app=web</kbd> {t("hasTheLabel")}
          </span>
        </span>
      </Spotlight.Footer>
    </Spotlight.Root>
  );
}
