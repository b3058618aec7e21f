/** What extenders were sent in an attempt and what they replied: a row per call, and the bodies of the chosen one. */
import { useQuery, type UseQueryResult } from "@tanstack/react-query";
import { useId, useState } from "react";

import { attemptExtendersQuery } from "@/api/podQueries";
import type { AttemptExtenders, ExtenderBody, ExtenderCall } from "@/api/podTypes";
import { Button } from "@/components/Button";
import { Icon } from "@/components/Icon";
import { Failed, Outlines } from "@/components/Outcome";
import { ScrollRegion } from "@/components/ScrollRegion";
import { milliseconds } from "@/format/milliseconds";
import { bytes, count } from "@/format/number";

import { t } from "../texts";
import { copyText } from "../yaml/copyText";
import classes from "./Extenders.module.css";
import { indented } from "./indented";

export function Extenders({ run, number, unfinished }: { run: string; number: number; unfinished: boolean }) {
  const asked = useQuery({
    ...attemptExtendersQuery(run, number, unfinished),
    refetchInterval: unfinished ? 2_000 : false,
  });
  return <ExtenderCalls asked={asked} kept={t("extendersAreKept")} />;
}

/** Whatever asked them. `kept`: what becomes of the answers. */
export function ExtenderCalls({ asked, kept }: { asked: UseQueryResult<AttemptExtenders>; kept: string }) {
  const title = useId();
  const [chosen, choose] = useState<number | null>(null);
  if (asked.data === undefined)
    return (
      <div className={classes.extenders}>
        {asked.error === null ? (
          <Outlines count={2} height={40} label={t("readingTheExtenders")} />
        ) : (
          <Failed what={t("extendersCouldNotBe")} error={asked.error} retry={() => void asked.refetch()} />
        )}
      </div>
    );
  const { calls, waited_us: waited } = asked.data;
  const wrong = calls.findIndex((one) => one.error !== "");
  const place = chosen ?? Math.max(0, wrong);
  const shown = calls[place];
  return (
    <section className={classes.extenders} aria-labelledby={title}>
      <div className={classes.head}>
        <h3 id={title}>{t("extenders")}</h3>
        <span className="grow" />
        <span className="faint num">{t("extenderCalls", { count: calls.length, took: milliseconds(waited) })}</span>
      </div>
      <div className={classes.beside}>
        <ScrollRegion className={classes.scroll} label={t("extenderTable")}>
          <table className={classes.calls}>
            <thead>
              <tr>
                <th scope="col">{t("extender")}</th>
                <th scope="col">{t("extenderCall")}</th>
                <th scope="col" className="num">
                  {t("extenderNodes")}
                </th>
                <th scope="col" className="num">
                  {t("extenderTime")}
                </th>
                <th scope="col">{t("extenderAnswer")}</th>
              </tr>
            </thead>
            <tbody>
              {calls.map((one, at) => (
                <tr key={at} data-chosen={at === place}>
                  <th scope="row">
                    <button type="button" aria-pressed={at === place} onClick={() => choose(at)}>
                      {one.extender}
                    </button>
                  </th>
                  <td className="mono">{one.verb}</td>
                  <td className="num">{nodes(one)}</td>
                  <td className="num">{one.us === null ? null : milliseconds(one.us)}</td>
                  <td>
                    <Answer call={one} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </ScrollRegion>
        {shown === undefined ? null : <Bodies key={place} call={shown} kept={kept} />}
      </div>
    </section>
  );
}

function nodes({ verb, sent, kept }: ExtenderCall): string {
  if (verb === "bind") return "";
  return kept === null ? count(sent) : `${count(sent)} → ${count(kept)}`;
}

function Answer({ call }: { call: ExtenderCall }) {
  const failed = call.error !== "";
  return (
    <>
      <span className={classes.answer} data-tone={failed ? (call.ignored ? "passed" : "bad") : "ok"}>
        <Icon name={failed ? (call.ignored ? "minus" : "warning") : "bound"} size={13} />
        {call.status === null ? t("extenderNoReply") : <span className="num">{call.status}</span>}
        {call.ignored ? <span>{t("extenderPassedOver")}</span> : null}
      </span>
      {failed ? <span className={`${classes.error} muted`}>{call.error}</span> : null}
    </>
  );
}

function Bodies({ call, kept }: { call: ExtenderCall; kept: string }) {
  const isOlder = call.request === null && call.status !== null;
  return (
    <div className={classes.bodies}>
      <Body
        title={t("extenderRequest")}
        label={t("extenderRequestOf", { extender: call.extender, verb: call.verb })}
        body={call.request}
        missing={t("extenderRequestNotKept")}
      />
      <Body
        title={t("extenderReply")}
        label={t("extenderReplyOf", { extender: call.extender, verb: call.verb })}
        body={call.reply}
        missing={isOlder ? t("extenderRequestNotKept") : t("extenderThereWasNoReply")}
      />
      <p className="faint">{kept}</p>
    </div>
  );
}

function Body({
  title,
  label,
  body,
  missing,
}: {
  title: string;
  label: string;
  body: ExtenderBody | null;
  missing: string;
}) {
  const sent = body === null ? 0 : new TextEncoder().encode(body.text).length;
  return (
    <>
      <div className={classes.line}>
        <h4>{title}</h4>
        {body === null ? null : (
          <span className="faint num">
            {sent < body.bytes
              ? t("extenderBodyShortened", { shown: bytes(sent), bytes: bytes(body.bytes) })
              : bytes(body.bytes)}
          </span>
        )}
        <span className="grow" />
        {body === null || body.text === "" ? null : (
          <Button
            size="sm"
            kind="ghost"
            aria-label={t("copyThis", { what: label })}
            onClick={() => void copyText(body.text)}
          >
            {t("copy")}
          </Button>
        )}
      </div>
      {body === null ? (
        <p className="muted">{missing}</p>
      ) : body.text === "" ? (
        <p className="muted">{t("extenderEmptyBody")}</p>
      ) : (
        <ScrollRegion as="pre" className={classes.body} label={label}>
          {`${indented(body.text)}${sent < body.bytes ? "…" : ""}`}
        </ScrollRegion>
      )}
    </>
  );
}
