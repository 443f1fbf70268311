// Move a value, and see what the present model and the jury say to it.

import { useEffect, useLayoutEffect, useMemo, useState } from "preact/hooks";
import { useSpeech } from "../language";
import { Latest } from "../latest";
import { after } from "../plans";
import { complaintAbout, spoken } from "../problems";
import type { Cell, Entered, Person, Plan, Source, Verdict } from "../types";
import { Legend } from "./distribution";
import { Field } from "./field";
import { Agreement, Said } from "./parts";

const WAIT = 25; // milliseconds without a move before the models are asked

interface Props {
  person: Person;
  plan: Plan | null;
  source: Source;
}

export function WhatIf({ person, plan, source }: Props) {
  const { say } = useSpeech();
  const speech = useSpeech();
  const [row, setRow] = useState<Entered[]>(person.row);
  const [verdict, setVerdict] = useState<Verdict | null>(null);
  const [state, setState] = useState<"asking" | "said" | "failed">("asking");
  const [error, setError] = useState("");
  const latest = useMemo(() => new Latest<Verdict[]>(WAIT), []);

  useEffect(() => setRow(person.row), [person]);
  // Asked before the moved value is painted, not after.
  useLayoutEffect(() => {
    const complaint = complaintAbout(source.columns, row, say);
    if (complaint) {
      setError(complaint);
      setState("failed");
      return undefined;
    }
    setState("asking");
    latest.ask(
      (signal) => source.verdicts([row as Cell[]], signal),
      (verdicts) => {
        setVerdict(verdicts[0] ?? null);
        setState("said");
      },
      (failure) => {
        setError(spoken(failure, speech));
        setState("failed");
      },
    );
    return () => latest.stop();
  }, [row]);

  const changed = row.filter((value, k) => value !== person.row[k]).length;
  return (
    <section class="panel whatif" aria-labelledby="whatif">
      <h2 id="whatif">{say("whatIf")}</h2>
      <p>{say(source.offers.jury ? "whatIfJury" : "whatIfLead")}</p>
      <div class={state === "asking" ? "answer asking" : "answer"}>
        <div role="status" aria-live="polite" aria-busy={state === "asking"} data-state={state}>
          {state === "failed" ? (
            <p class="failed">{error}</p>
          ) : verdict ? (
            <>
              <p>
                {say("presentModel")} <Said verdict={verdict} /> {changed > 0 && <span class="quiet">{say("valuesMoved", { n: changed })}</span>}
              </p>
              {source.offers.jury && <Agreement share={verdict.share} offers={source.offers} wide />}
            </>
          ) : (
            <p class="quiet">{say("asking")}</p>
          )}
        </div>
        <div class="actions">
          <button type="button" onClick={() => setRow(person.row)} disabled={changed === 0}>
            {say("backToToday")}
          </button>
          {plan && (
            <button type="button" onClick={() => setRow(after(person, plan))}>
              {say("beginWithPlan")}
            </button>
          )}
        </div>
      </div>
      {source.columns.some((column) => column.distribution) && <Legend />}
      <div class="fields">
        {source.columns.map((column, k) => (
          <Field
            key={column.name}
            column={column}
            value={row[k]}
            today={person.row[k] ?? null}
            slider
            onChange={(value) => setRow((now) => now.map((own, place) => (place === k ? value : own)))}
          />
        ))}
      </div>
    </section>
  );
}
