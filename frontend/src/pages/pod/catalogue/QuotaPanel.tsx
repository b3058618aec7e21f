/** ElasticQuotas per namespace, of one resource at a time: what is used, guaranteed and allowed, and what the pod asks. */
import { useState } from "react";

import type { PodQuotas, QuotaResource } from "@/api/podTypes";
import { Panel, PanelHeader } from "@/components/Panel";
import { ScrollRegion } from "@/components/ScrollRegion";
import { Segmented } from "@/components/Segmented";
import { amount, quantity } from "@/format/resources";

import { t } from "../texts";
import classes from "./Catalogue.module.css";

export function QuotaPanel({ quotas }: { quotas: PodQuotas }) {
  const { resources, namespace } = quotas;
  const [chosen, choose] = useState<string | null>(null);
  const shown = resources.find((one) => one.name === chosen) ?? resources.find(isShort(namespace)) ?? resources[0];
  if (shown === undefined) return null;
  return (
    <Panel aria-labelledby="elastic-quotas">
      <PanelHeader id="elastic-quotas" title={t("elasticQuotas")}>
        <span className="grow" />
        <Segmented
          label={t("quotaResource")}
          value={shown.name}
          options={resources.map(({ name }) => ({ value: name, label: name }))}
          onChange={choose}
        />
      </PanelHeader>
      <Quotas resource={shown} namespace={namespace} />
      <p className={classes.legend}>
        <span>
          <i className={classes.used} /> {t("quotaLegendUsed")}
        </span>
        <span>
          <i className={classes.borrowed} /> {t("quotaLegendBorrowed")}
        </span>
        <span>
          <i className={classes.asked} /> {t("quotaLegendAsked")}
        </span>
        <span>
          <i className={classes.tick} /> {t("quotaLegendMin")}
        </span>
        <span>
          <i className={classes.track} /> {t("quotaLegendMax")}
        </span>
      </p>
    </Panel>
  );
}

/** Of a resource: whether the pod asks for more than its namespace may use, or than all are guaranteed. */
function isShort(namespace: string) {
  return ({ quotas, asked, used, min }: QuotaResource) => {
    const own = quotas.find((one) => one.namespace === namespace);
    const most = own?.max ?? null;
    const over = own !== undefined && most !== null && own.used.amount + asked.amount > most.amount;
    return over || used.amount + asked.amount > min.amount;
  };
}

function Quotas({ resource, namespace }: { resource: QuotaResource; namespace: string }) {
  const { name, quotas, asked, used, min } = resource;
  const all = used.amount + asked.amount;
  const ends = quotas.map((one) => Math.max(one.max?.amount ?? 0, one.used.amount, one.min.amount));
  const widest = Math.max(1, ...ends);
  return (
    <ScrollRegion className={classes.scroll} label={t("elasticQuotas")}>
      <table className={classes.quotas}>
        <thead>
          <tr>
            <th scope="col">{t("quotaNamespace")}</th>
            <th scope="col">
              <span className="srOnly">{t("quotaShare")}</span>
            </th>
            <th scope="col" className="num">
              {t("quotaUsed")}
            </th>
            <th scope="col" className="num">
              {t("quotaMin")}
            </th>
            <th scope="col" className="num">
              {t("quotaMax")}
            </th>
            <th scope="col">
              <span className="srOnly">{t("quotaNote")}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {quotas.map((one) => (
            <tr key={one.namespace} data-own={one.namespace === namespace}>
              <th scope="row">{one.namespace}</th>
              <td>
                <Bar
                  scale={widest}
                  end={one.max?.amount ?? widest}
                  used={one.used.amount}
                  min={one.min.amount}
                  asked={one.namespace === namespace ? asked.amount : 0}
                />
              </td>
              <td className="num">{quantity(one.used.text)}</td>
              <td className="num">{quantity(one.min.text)}</td>
              <td className="num">{one.max === null ? t("quotaNoLimit") : quantity(one.max.text)}</td>
              <td className={one.used.amount > one.min.amount ? classes.warn : "faint"}>
                {note(name, one.used.amount - one.min.amount)}
              </td>
            </tr>
          ))}
          <tr className={classes.total}>
            <th scope="row">{t("quotaAll")}</th>
            <td>
              <Bar
                scale={Math.max(all, min.amount, 1)}
                end={Math.max(all, min.amount)}
                used={Math.min(used.amount, min.amount)}
                min={min.amount}
                asked={asked.amount}
              />
            </td>
            <td className="num">{quantity(used.text)}</td>
            <td className="num">{quantity(min.text)}</td>
            <td />
            <td className={all > min.amount ? classes.bad : "faint"}>
              {t("quotaWithThisPod", { amount: amount(name, all) })}
            </td>
          </tr>
        </tbody>
      </table>
    </ScrollRegion>
  );
}

function note(resource: string, over: number): string {
  if (over > 0) return t("quotaBorrows", { amount: amount(resource, over) });
  return over < 0 ? t("quotaUnused", { amount: amount(resource, -over) }) : "";
}

/** `used` within min, what is used above it, then what is asked; amounts of one unit. */
function Bar({ scale, ...of }: { scale: number; end: number; used: number; min: number; asked: number }) {
  const share = (value: number) => `${((100 * value) / scale).toString()}%`;
  const within = Math.min(of.used, of.min);
  return (
    <span className={classes.bar} aria-hidden>
      <i className={classes.track} style={{ width: share(of.end) }} />
      <i className={classes.used} style={{ width: share(within) }} />
      <i className={classes.borrowed} style={{ left: share(within), width: share(of.used - within) }} />
      <i
        className={classes.asked}
        style={{ left: share(of.used), width: share(Math.min(of.asked, scale - of.used)) }}
      />
      <i className={classes.tick} style={{ left: share(of.min) }} />
    </span>
  );
}
