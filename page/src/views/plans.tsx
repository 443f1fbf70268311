// The plans of a person, as cards, and a picture of what they cost against how long they last.

import { useSpeech } from "../language";
import { cheapest, inOrder, measured, needsNothing, own, safest } from "../plans";
import { meaning } from "../statuses";
import type { Column, Offers, Person, Plan, Verdict } from "../types";
import { Picture } from "./picture";
import { Changes, Chip, Failed, Judged } from "./parts";

export interface Found {
  state: "busy" | "more" | "done" | "failed" | "wrong";
  plans: Plan[];
  error: string;
}

type Mark = "cheapest" | "safest" | "mostAccept";

interface Props {
  person: Person;
  columns: Column[];
  offers: Offers;
  found: Found;
  today: Verdict | null;
  ways: Map<Plan, (Verdict | null)[]>;
  narrowed: boolean;
  chosen: Plan | null;
  kept: (plan: Plan) => boolean;
  onChoose: (plan: Plan) => void;
  onKeep: (plan: Plan) => void;
  onRetry: () => void;
}

export function Plans(props: Props) {
  const { say } = useSpeech();
  const { found, chosen, offers } = props;
  const shown = inOrder(found.plans).slice(0, 4);
  const least = cheapest(shown);
  const most = safest(shown);
  // What the models of the search say makes no plan safe.
  const mark: Mark = shown.some((plan) => measured(plan, offers)) ? "safest" : "mostAccept";
  return (
    <section class="panel plans" aria-labelledby="plans" aria-busy={found.state === "busy"}>
      <h2 id="plans">{say("plans")}</h2>
      <p class="status" role="status">
        {found.state === "busy" && say("searching")}
        {(found.state === "more" || found.state === "done") && <Outcome {...props} shown={shown} />}
        {found.state === "more" && ` ${say("searchingMore")}`}
      </p>
      {found.state === "wrong" && <p class="failed">{found.error}</p>}
      {found.state === "failed" && <Failed error={found.error} retry={props.onRetry} />}
      {shown.length > 0 && (
        <>
          <div class="deck">
            <ol class={`cards n${shown.length}`}>
            {shown.map((plan, k) => (
              <li key={`${plan.rank}-${k}`}>
                <Card
                  {...props}
                  plan={plan}
                  number={k + 1}
                  marks={(["cheapest", mark] as Mark[]).filter((each) => (each === "cheapest" ? shown.length > 1 && plan === least : plan === most))}
                  open={plan === chosen}
                />
              </li>
            ))}
            </ol>
          </div>
          {shown.some((plan) => plan.share !== null) && (
            <Picture plans={shown} today={props.today} ways={props.ways} chosen={chosen} guided={offers.guided} />
          )}
        </>
      )}
    </section>
  );
}

function Outcome({ found, shown, narrowed, offers: { asks } }: Props & { shown: Plan[] }) {
  const { say } = useSpeech();
  const first = found.plans[0];
  if (shown.length) return <>{say("plansFound", { n: shown.length })}</>;
  if (first && needsNothing(first)) return <>{say("nothingNeeded")}</>;
  if (narrowed && (!first || !asks)) return <>{say(asks ? "noneLikeThat" : "noneLikeThatHere")}</>;
  return (
    <>
      {say("noPlan")} {first && meaning(first.status, say)} {first && <span class="quiet" lang="en">{first.reason}</span>}
    </>
  );
}

function Card({
  plan,
  number,
  marks,
  open,
  columns,
  offers,
  kept,
  onChoose,
  onKeep,
}: Props & { plan: Plan; number: number; marks: Mark[]; open: boolean }) {
  const { say, format } = useSpeech();
  const heading = `plan-${number}`;
  return (
    <article class={open ? "card open" : "card"} aria-labelledby={heading}>
      <header>
        <h3 id={heading}>{say("planNumber", { n: number })}</h3>
        {marks.map((mark) => (
          <Chip key={mark} kind="plain">
            {say(mark)}
          </Chip>
        ))}
      </header>
      <Changes plan={plan} columns={columns} />
      <dl class="facts">
        <div>
          <dt>{say("cost")}</dt>
          <dd>{format.amount(plan.cost)}</dd>
        </div>
        <div>
          <dt>{say("numberOfChanges")}</dt>
          <dd>{format.count(own(plan).length)}</dd>
        </div>
      </dl>
      <Judged plan={plan} offers={offers} />
      {plan.status !== "ok" && plan.reason && (
        <div class="note">
          <p>{meaning(plan.status, say)}</p>
          <details>
            <summary>{say("note")}</summary>
            <p lang="en">{plan.reason}</p>
          </details>
        </div>
      )}
      <div class="actions">
        <button type="button" class={open ? undefined : "main"} aria-pressed={open} onClick={() => onChoose(plan)}>
          {say(open ? "chosen" : "choose")}
          <span class="hidden"> {say("planNumber", { n: number })}</span>
        </button>
        <button type="button" aria-pressed={kept(plan)} onClick={() => onKeep(plan)}>
          <span class={kept(plan) ? "mark full" : "mark"} aria-hidden="true" />
          {say(kept(plan) ? "kept" : "keep")}
          <span class="hidden"> {say("planNumber", { n: number })}</span>
        </button>
      </div>
    </article>
  );
}
