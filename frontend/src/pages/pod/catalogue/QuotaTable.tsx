/** What is used of ElasticQuotas, of one resource: a bar each, beside what is guaranteed and allowed. */
import type { QuotaResource, QuotaRow } from "@/api/podTypes";
import { ScrollRegion } from "@/components/ScrollRegion";
import { amount, quantity } from "@/format/resources";

import { t } from "../texts";
import classes from "./Catalogue.module.css";

interface QuotaTableProps {
  resource: QuotaResource;
  /** A pod that asks for some of its namespace's. */
  pod?: { namespace: string; asked: number };
}

const NO_POD = { namespace: null, asked: 0 };

export function QuotaTable({ resource, pod }: QuotaTableProps) {
  const { name, quotas, used, min } = resource;
  const { namespace, asked } = pod ?? NO_POD;
  const isTree = quotas.some((one) => one.share !== null || one.depth > 0);
  const all = used.amount + asked;
  const widest = Math.max(1, ...quotas.map((one) => Math.max(one.max?.amount ?? 0, one.used.amount, one.min.amount)));
  return (
    <ScrollRegion className={classes.scroll} label={t("elasticQuotas")}>
      <table className={classes.quotas}>
        <thead>
          <tr>
            <th scope="col">{t(isTree ? "quotaName" : "quotaNamespace")}</th>
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
            <th scope="col">{isTree ? t("quotaMayUseNow") : <span className="srOnly">{t("quotaNote")}</span>}</th>
          </tr>
        </thead>
        <tbody>
          {quotas.map((one) => (
            <tr key={`${one.namespace}/${one.name}`} data-own={one.namespace === namespace}>
              <th scope="row" style={{ paddingInlineStart: one.depth * INDENT }}>
                {isTree ? one.name : one.namespace}
              </th>
              <td>
                <Bar
                  scale={widest}
                  end={one.max?.amount ?? widest}
                  used={one.used.amount}
                  min={one.min.amount}
                  asked={one.namespace === namespace ? asked : 0}
                />
              </td>
              <td className="num">{quantity(one.used.text)}</td>
              <td className="num">{quantity(one.min.text)}</td>
              <td className="num">{one.max === null ? t("quotaNoLimit") : quantity(one.max.text)}</td>
              {isTree ? <Share row={one} /> : <Note resource={name} row={one} />}
            </tr>
          ))}
          {isTree ? null : (
            <tr className={classes.total}>
              <th scope="row">{t("quotaAll")}</th>
              <td>
                <Bar
                  scale={Math.max(all, min.amount, 1)}
                  end={Math.max(all, min.amount)}
                  used={Math.min(used.amount, min.amount)}
                  min={min.amount}
                  asked={asked}
                />
              </td>
              <td className="num">{quantity(used.text)}</td>
              <td className="num">{quantity(min.text)}</td>
              <td />
              <td className={all > min.amount ? classes.bad : "faint"}>
                {pod === undefined ? null : t("quotaWithThisPod", { amount: amount(name, all) })}
              </td>
            </tr>
          )}
        </tbody>
      </table>
    </ScrollRegion>
  );
}

const INDENT = 16;

/** What it may use at the moment; red where it uses as much. Of quotas in a circle nobody knows. */
function Share({ row: { share, used } }: { row: QuotaRow }) {
  if (share === null) return <td className="faint">{t("quotaNoShare")}</td>;
  return <td className={used.amount > 0 && used.amount >= share.amount ? classes.bad : ""}>{quantity(share.text)}</td>;
}

function Note({ resource, row: { used, min } }: { resource: string; row: QuotaRow }) {
  const over = used.amount - min.amount;
  return <td className={over > 0 ? classes.warn : "faint"}>{note(resource, over)}</td>;
}

function note(resource: string, over: number): string {
  if (over > 0) return t("quotaBorrows", { amount: amount(resource, over) });
  return over < 0 ? t("quotaUnused", { amount: amount(resource, -over) }) : "";
}

export function QuotaLegend({ asked = false }: { asked?: boolean }) {
  return (
    <p className={classes.legend}>
      <span>
        <i className={classes.used} /> {t("quotaLegendUsed")}
      </span>
      <span>
        <i className={classes.borrowed} /> {t("quotaLegendBorrowed")}
      </span>
      {asked ? (
        <span>
          <i className={classes.asked} /> {t("quotaLegendAsked")}
        </span>
      ) : null}
      <span>
        <i className={classes.tick} /> {t("quotaLegendMin")}
      </span>
      <span>
        <i className={classes.track} /> {t("quotaLegendMax")}
      </span>
    </p>
  );
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
