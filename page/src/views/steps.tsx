// The changes of a plan in an order, with the verdict after each.

import { useEffect, useRef, useState } from "preact/hooks";
import { useSpeech } from "../language";
import { own } from "../plans";
import type { Person, Plan, Source, Verdict } from "../types";
import { ChangeLine, Said } from "./parts";

interface Props {
  person: Person;
  plan: Plan;
  source: Source;
}

export function Steps({ person, plan, source }: Props) {
  const { say, format } = useSpeech();
  const changes = own(plan);
  const [order, setOrder] = useState(() => changes.map((_, k) => k));
  const [said, setSaid] = useState<(Verdict | null)[] | null>(null);
  const [moved, setMoved] = useState("");
  const focus = useRef<{ place: number; up: boolean } | null>(null);
  const list = useRef<HTMLOListElement>(null);

  useEffect(() => setOrder(changes.map((_, k) => k)), [plan]);
  useEffect(() => {
    const running = new AbortController();
    setSaid(null);
    source.steps(person, plan, order, running.signal).then(
      (verdicts) => !running.signal.aborted && setSaid(verdicts),
      () => !running.signal.aborted && setSaid([]),
    );
    return () => running.abort();
  }, [plan, order]);
  useEffect(() => {
    // The button that was pressed moves along, and may have become the first or last.
    const at = focus.current;
    focus.current = null;
    if (!at) return;
    const buttons = list.current?.querySelectorAll<HTMLButtonElement>(`li:nth-child(${at.place + 1}) button`);
    const wanted = buttons?.[at.up ? 0 : 1];
    (wanted?.disabled ? buttons?.[at.up ? 1 : 0] : wanted)?.focus();
  }, [order]);

  const move = (place: number, by: -1 | 1) => {
    const next = [...order];
    const [one, other] = [next[place], next[place + by]];
    if (one === undefined || other === undefined) return;
    [next[place], next[place + by]] = [other, one];
    focus.current = { place: place + by, up: by < 0 };
    const column = source.columns[changes[one]?.column ?? -1];
    setMoved(say("movedTo", { column: column?.title ?? "", n: place + by + 1 }));
    setOrder(next);
  };
  const free = changes.length > 1 && (source.offers.asks || (plan.steps !== null && changes.length <= 4));

  return (
    <section class="panel" aria-labelledby="steps">
      <h2 id="steps">{say("steps")}</h2>
      <p>{say(changes.length > 1 ? "stepsLead" : "oneStep")}</p>
      <ol class="steps" ref={list}>
        {order.map((place, k) => {
          const change = changes[place];
          const column = change && source.columns[change.column];
          const verdict = said?.[k];
          if (!change || !column) return null;
          return (
            <li key={column.name}>
              <div class="step">
                <p class="do">
                  <ChangeLine change={change} column={column} />
                </p>
                <p class="then">
                  {said === null ? (
                    <span class="quiet">{say("asking")}</span>
                  ) : verdict ? (
                    <>
                      {say("then")} <Said verdict={verdict} />{" "}
                      {verdict.share !== null && <span class="quiet">{say("shareAccepts", { share: format.share(verdict.share) })}</span>}
                    </>
                  ) : (
                    <span class="quiet">{say("notAsked")}</span>
                  )}
                </p>
              </div>
              {free && (
                <div class="moves">
                  <button type="button" disabled={k === 0} aria-label={say("earlier", { column: column.title })} onClick={() => move(k, -1)}>
                    <span class="up" aria-hidden="true" />
                  </button>
                  <button type="button" disabled={k === order.length - 1} aria-label={say("later", { column: column.title })} onClick={() => move(k, 1)}>
                    <span class="down" aria-hidden="true" />
                  </button>
                </div>
              )}
            </li>
          );
        })}
      </ol>
      <p class="hidden" role="status">
        {moved}
      </p>
    </section>
  );
}
