// One person: plans, wishes, steps, what-if, and what to keep.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { useSpeech } from "../language";
import { Latest } from "../latest";
import { NO_WISH, alike, inOrder, isWrong, needsNothing, own } from "../plans";
import { spoken } from "../problems";
import type { Person, Plan, Source, Verdict, Wishes } from "../types";
import { type Kept, SideBySide, Take } from "./keep";
import { Chip, Name } from "./parts";
import { type Found, Plans } from "./plans";
import { Shape } from "./shape";
import { Steps } from "./steps";
import { WhatIf } from "./whatif";

const WAIT = 250; // milliseconds after the last wish before plans are looked for

interface Props {
  person: Person;
  source: Source;
  kept: Kept[];
  onKeep: (kept: Kept[]) => void;
  onBack: () => void;
}

export function OnePerson({ person, source, kept, onKeep, onBack }: Props) {
  const speech = useSpeech();
  const { say, format } = speech;
  const [wishes, setWishes] = useState<Wishes>(new Map());
  const [found, setFound] = useState<Found>({ state: "busy", plans: [], error: "" });
  const [today, setToday] = useState<Verdict | null>(null);
  const [ways, setWays] = useState<Map<Plan, (Verdict | null)[]>>(new Map());
  const [chosen, setChosen] = useState<Plan | null>(null);
  const [attempt, setAttempt] = useState(0);
  const latest = useMemo(() => new Latest<Plan[]>(WAIT), []);
  const first = useMemo(() => new Latest<Plan[]>(0), []);
  const heading = useRef<HTMLHeadingElement>(null);
  const picked = useRef(false);

  const show = (plans: Plan[], state: "more" | "done") => {
    setFound({ state, plans, error: "" });
    // What somebody chose stays chosen; otherwise it is the cheapest that is what was asked for.
    const usable = inOrder(plans);
    setChosen((now) => usable.find((plan) => picked.current && now && alike(now, plan)) ?? usable[0] ?? null);
  };
  useEffect(() => heading.current?.focus(), [person]);
  useEffect(() => {
    const wrong = source.columns.filter((_, k) => isWrong(wishes.get(k) ?? NO_WISH)).map((column) => column.title);
    if (wrong.length) {
      setFound((now) => ({ ...now, state: "wrong", error: say("correct", { columns: wrong.join(", ") }) }));
      return undefined;
    }
    setFound((now) => ({ ...now, state: "busy", error: "" }));
    (wishes.size ? latest : first).ask(
      (signal) =>
        source.plans(
          person,
          wishes,
          (plans) => !signal.aborted && show(plans, "more"),
          signal,
        ),
      (plans) => show(plans, "done"),
      // A plan that was found stays if the search for others fails.
      (error) => setFound((now) => ({ state: "failed", plans: now.state === "more" ? now.plans : [], error: spoken(error, speech) })),
    );
    return () => {
      latest.stop();
      first.stop();
    };
  }, [person, wishes, attempt]);

  // What the models say today and on the way to each plan, for the picture.
  useEffect(() => {
    const running = new AbortController();
    const plans = inOrder(found.plans).slice(0, 4);
    setWays(new Map());
    if (found.state !== "busy") {
      source.today(person, running.signal).then((said) => !running.signal.aborted && setToday(said), () => undefined);
    }
    for (const plan of found.state === "busy" ? [] : plans) {
      const order = own(plan).map((_, k) => k);
      source.steps(person, plan, order, running.signal).then(
        (said) => !running.signal.aborted && setWays((now) => new Map(now).set(plan, said)),
        () => undefined,
      );
    }
    return () => running.abort();
  }, [found.plans, found.state === "busy"]);

  const shown = inOrder(found.plans).slice(0, 4);
  const same = (one: Kept, plan: Plan) => one.person === person && alike(one.plan, plan);
  const accepted = today?.accepted ?? (found.plans[0] ? needsNothing(found.plans[0]) : null);
  const number = chosen ? shown.indexOf(chosen) + 1 : 0;
  return (
    <div class="person">
      <header class="who">
        <button type="button" class="back" onClick={onBack}>
          <span class="arrow back" aria-hidden="true" />
          {say("another")}
        </button>
        <h1 ref={heading} tabIndex={-1}>
          <Name person={person} />
        </h1>
        {accepted !== null && (
          <p>
            {say("today")} <Chip kind={accepted ? "yes" : "no"}>{say(accepted ? "accepted" : "refused")}</Chip>{" "}
            {today?.share !== null && today?.share !== undefined && <span class="quiet">{say("shareAccepts", { share: format.share(today.share) })}</span>}
          </p>
        )}
        <details>
          <summary>{say("details")}</summary>
          <dl class="row">
            {source.columns.map((column, k) => (
              <div key={column.name}>
                <dt>
                  <bdi>{column.title}</bdi>
                </dt>
                <dd>
                  <bdi>{format.value(person.row[k] ?? null, column)}</bdi>
                </dd>
              </div>
            ))}
          </dl>
        </details>
      </header>
      <div class="sides">
          <Plans
            person={person}
            columns={source.columns}
            offers={source.offers}
            found={found}
            today={today}
            ways={ways}
            narrowed={wishes.size > 0}
            chosen={chosen}
            kept={(plan) => kept.some((each) => same(each, plan))}
            onChoose={(plan) => {
              picked.current = true;
              setChosen(plan);
            }}
            onKeep={(plan) =>
              onKeep(
                kept.some((each) => same(each, plan))
                  ? kept.filter((each) => !same(each, plan))
                  : [...kept, { person, plan, number: shown.indexOf(plan) + 1 }],
              )
            }
            onRetry={() => setAttempt(attempt + 1)}
          />
        <Shape columns={source.columns} row={person.row} wishes={wishes} asks={source.offers.asks} onChange={setWishes} />
        <div class="results">
          {chosen && (found.state !== "failed" || found.plans.length > 0) && (
            <>
              <Steps person={person} plan={chosen} source={source} />
              <Take key={JSON.stringify(chosen.changes)} person={person} plan={chosen} number={number} source={source} />
            </>
          )}
          <SideBySide kept={kept} columns={source.columns} offers={source.offers} onDrop={(dropped) => onKeep(kept.filter((each) => each !== dropped))} />
          {source.offers.asks && <WhatIf person={person} plan={chosen} source={source} />}
        </div>
      </div>
    </div>
  );
}
