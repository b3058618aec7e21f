/** In the menu of a run: what leads beyond this program — the real cluster, kube-scheduler-simulator, people without an account. */
import "@mantine/core/styles/Menu.layer.css";

import { Menu } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";

import { annotationsAddress } from "@/api/realQueries";
import type { Run } from "@/api/types";
import { useMe } from "@/api/useMe";
import { Icon } from "@/components/Icon";

import { t } from "./texts";

export function RunItems({ run, onShare }: { run: Run; onShare: () => void }) {
  const navigate = useNavigate();
  const { operates, visits } = useMe();
  // A moment of a run has neither: both are about the run.
  if (run.moment !== null) return null;
  return (
    <>
      <Menu.Item
        leftSection={<Icon name="flag" size={14} />}
        onClick={() => void navigate({ to: "/runs/$run/real", params: { run: run.id } })}
      >
        {t("realAgainstSimulated")}
      </Menu.Item>
      {visits ? null : (
        <Menu.Item
          leftSection={<Icon name="file" size={14} />}
          onClick={() => void navigate({ to: "/runs/$run/operators", params: { run: run.id } })}
        >
          {t("operators")}
        </Menu.Item>
      )}
      <Menu.Item
        leftSection={<Icon name="download" size={14} />}
        component="a"
        href={annotationsAddress(run.id, "yaml")}
        download
      >
        {t("annotatedYaml")}
      </Menu.Item>
      <Menu.Item
        leftSection={<Icon name="download" size={14} />}
        component="a"
        href={annotationsAddress(run.id, "json")}
        download
      >
        {t("annotatedJson")}
      </Menu.Item>
      {visits ? null : (
        <Menu.Item
          closeMenuOnClick={false}
          leftSection={<Icon name="person" size={14} />}
          disabled={!operates}
          title={operates ? undefined : t("mayNotShare")}
          onClick={onShare}
        >
          {t("share")}
        </Menu.Item>
      )}
    </>
  );
}
