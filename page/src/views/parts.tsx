// Small things that several views show.

import type { ComponentChildren } from "preact";
import { useSpeech } from "../language";
import { direction, measured, own } from "../plans";
import type { Change, Column, Offers, Person, Plan, Verdict } from "../types";

/** Text that came from a table: isolated, so that its direction stays its own. */
export function Foreign({ children }: { children: string }) {
  return <bdi>{children}</bdi>;
}

export function Name({ person }: { person: Person }) {
  const { say } = useSpeech();
  return <bdi>{/^\d+$/.test(person.id) ? say("personNumber", { id: person.id }) : person.id}</bdi>;
}

export function Failed({ error, retry }: { error: string; retry?: () => void }) {
  const { say } = useSpeech();
  return (
    <div class="failed" role="alert">
      <p>{error}</p>
      {retry && (
        <button type="button" onClick={retry}>
          {say("again")}
        </button>
      )}
    </div>
  );
}

export function Chip({ kind, children }: { kind: "yes" | "no" | "plain"; children: ComponentChildren }) {
  return <span class={`chip ${kind}`}>{children}</span>;
}

export function Said({ verdict }: { verdict: Verdict }) {
  const { say } = useSpeech();
  return <Chip kind={verdict.accepted ? "yes" : "no"}>{say(verdict.accepted ? "accepted" : "refused")}</Chip>;
}

/** Whether a plan lasts, as far as that was measured: what models apart from the search prove, and who else accepts. */
export function Judged({ plan, offers }: { plan: Plan; offers: Offers }) {
  const { say, format } = useSpeech();
  return (
    <div class="judged">
      {plan.bound !== null && <p>{say("provenBound", { share: format.share(plan.bound) })}</p>}
      {!measured(plan, offers) && <p>{say("notMeasured")}</p>}
      {plan.share !== null && <Agreement share={plan.share} offers={offers} />}
    </div>
  );
}

/** The share of the retrained models that accept, as a bar: one field for each model, if they are few. */
export function Agreement({ share, offers, wide }: { share: number | null; offers: Offers; wide?: boolean }) {
  const { say, format } = useSpeech();
  if (share === null) return <p class="quiet">{say("noJury")}</p>;
  const { jurors, guided } = offers;
  const fields = jurors !== null && jurors <= 40 ? jurors : 1;
  const accepting = Math.round(share * fields * 1e9) / 1e9;
  const told = jurors === null ? say("shareAccepts", { share: format.share(share) }) : say("jurorsAccept", { k: Math.round(share * jurors), n: jurors });
  return (
    <div class={wide ? "agreement wide" : "agreement"}>
      <svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
        {Array.from({ length: fields }, (_, k) => {
          const width = 100 / fields;
          const gap = fields > 1 ? Math.min(1, width / 5) : 0;
          const full = Math.max(0, Math.min(1, accepting - k));
          return [
            <rect class="track" x={k * width} y="0" width={width - gap} height="8" rx={fields > 1 ? 0.6 : 1} />,
            full > 0 && <rect class="full" x={k * width} y="0" width={(width - gap) * full} height="8" rx={fields > 1 ? 0.6 : 1} />,
          ];
        })}
      </svg>
      <p class="told">
        <strong>{format.share(share)}</strong> <span>{told}</span>{guided && <span>. {say("guided")}</span>}
      </p>
    </div>
  );
}

const VERBS = { 1: "raise", [-1]: "lower", 0: "switch" } as const;

/** What to do, in words, and from what to what. */
export function ChangeLine({ change, column }: { change: Change; column: Column }) {
  const { say, rich, format } = useSpeech();
  const name = <Foreign>{column.title}</Foreign>;
  const verb = change.cost === 0 ? "follows" : VERBS[direction(column, change) as 1 | -1 | 0];
  const shown = (cell: Change["from"], exact: boolean) => format.value(cell, column, exact);
  const alike = shown(change.from, false) === shown(change.to, true);
  return (
    <>
      <span class="what">{rich(verb, { column: <strong>{name}</strong> })}</span>{" "}
      <span class="way">
        <span class="hidden">{say("from")} </span>
        <span class="old">
          <Foreign>{shown(change.from, alike)}</Foreign>
        </span>{" "}
        <span class="arrow" aria-hidden="true" />
        <span class="hidden">{say("to")} </span>
        <span class="new">
          <Foreign>{shown(change.to, true)}</Foreign>
        </span>
      </span>
    </>
  );
}

export function Changes({ plan, columns }: { plan: Plan; columns: Column[] }) {
  const { say } = useSpeech();
  const followers = plan.changes.filter((change) => change.cost === 0);
  return (
    <ul class="changes" aria-label={say("whatChanges")}>
      {[...own(plan), ...followers].map((change) => {
        const column = columns[change.column];
        return (
          column && (
            <li key={column.name} class={change.cost === 0 ? "follower" : undefined}>
              <ChangeLine change={change} column={column} />
            </li>
          )
        );
      })}
    </ul>
  );
}
