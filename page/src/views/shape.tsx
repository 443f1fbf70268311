// What a person says about every column: easy, hard, out of the question, and how far they would go.

import { useId } from "preact/hooks";
import { useSpeech } from "../language";
import { ANYTHING } from "../numbers";
import { NO_WISH, isWish, isWrong } from "../plans";
import type { Cell, Column, Ease, Wish, Wishes } from "../types";
import { Distribution, Legend } from "./distribution";
import { endsOf } from "./field";
import { NumberField } from "./number";

const EASE: Ease[] = ["any", "easy", "hard", "cannot"];

interface Props {
  columns: Column[];
  row: Cell[];
  wishes: Wishes;
  asks: boolean;
  onChange: (wishes: Wishes) => void;
}

export function Shape({ columns, row, wishes, asks, onChange }: Props) {
  const { say, format } = useSpeech();
  const places = columns.map((_, k) => k);
  const movable = places.filter((k) => columns[k]?.movable);
  const rest = places.filter((k) => !columns[k]?.movable);
  const set = (place: number, wish: Wish) => {
    const next = new Map(wishes);
    if (isWish(wish)) next.set(place, wish);
    else next.delete(place);
    onChange(next);
  };
  return (
    <section class="panel shape" aria-labelledby="shape">
      <div class="bar">
        <h2 id="shape">{say("shape")}</h2>
        <button type="button" disabled={wishes.size === 0} onClick={() => onChange(new Map())}>
          {say("reset")}
        </button>
      </div>
      <p>{say(asks ? "shapeLead" : "shapeLeadHere")}</p>
      {columns.some((column) => column.distribution) && <Legend />}
      {movable.map((k) => {
        const column = columns[k];
        return column && <Wished key={column.name} column={column} today={row[k] ?? null} asks={asks} wish={wishes.get(k) ?? NO_WISH} onChange={(wish) => set(k, wish)} />;
      })}
      {rest.length > 0 && (
        <details>
          <summary>{say(asks ? "neverChange" : "inNoPlan", { n: rest.length })}</summary>
          <dl class="row">
            {rest.map((k) => {
              const column = columns[k];
              return (
                column && (
                  <div key={column.name}>
                    <dt>
                      <bdi>{column.title}</bdi>
                      {column.follows && <span class="quiet"> ({say("followsFrom", { column: column.follows })})</span>}
                    </dt>
                    <dd>
                      <bdi>{format.value(row[k] ?? null, column)}</bdi>
                    </dd>
                  </div>
                )
              );
            })}
          </dl>
        </details>
      )}
    </section>
  );
}

function Wished({ column, today, asks, wish, onChange }: { column: Column; today: Cell; asks: boolean; wish: Wish; onChange: (wish: Wish) => void }) {
  const { say, format } = useSpeech();
  const name = `ease-${column.name}`;
  const ends = column.kind === "number" ? endsOf(column, today) : null;
  const limited = wish.low !== null || wish.high !== null || wish.values !== null;
  return (
    <fieldset class="wish">
      <legend>
        <bdi>{column.title}</bdi>{" "}
        <span class="quiet">
          <bdi>{format.value(today, column)}</bdi>
        </span>
      </legend>
      <Distribution column={column} today={today} {...(ends ? { ends } : {})} />
      <div class="choices">
        {EASE.map((ease) => (
          <label key={ease}>
            <input type="radio" name={name} value={ease} checked={wish.ease === ease} onChange={() => onChange({ ...wish, ...(ease === "cannot" && isWrong(wish) ? { low: null, high: null } : {}), ease })} />
            <span>{say(`ease_${ease}`)}</span>
          </label>
        ))}
      </div>
      {wish.ease !== "cannot" && (ends || column.categories.length > 1) && (
        <details open={limited || undefined}>
          <summary>
            {say("acceptable")}
            {limited && <span class="quiet"> {say("limited")}</span>}
          </summary>
          {ends ? (
            <Limits column={column} asks={asks} wish={wish} onChange={onChange} />
          ) : (
            <div class="values">
              {column.categories.map((each, k) => (
                <label key={k}>
                  <input
                    type="checkbox"
                    checked={wish.values === null || wish.values.includes(each)}
                    disabled={each === today}
                    onChange={(event) => {
                      const own = wish.values ?? column.categories;
                      const next = column.categories.filter((other) => (other === each ? event.currentTarget.checked : own.includes(other)));
                      onChange({ ...wish, values: next.length === column.categories.length ? null : next });
                    }}
                  />
                  <bdi>{format.value(each, column)}</bdi>
                </label>
              ))}
            </div>
          )}
        </details>
      )}
    </fieldset>
  );
}

/** The ends of what is acceptable. The lender's own are told, and only what they leave open can be asked of a service. */
function Limits({ column, asks, wish, onChange }: { column: Column; asks: boolean; wish: Wish; onChange: (wish: Wish) => void }) {
  const { say, format } = useSpeech();
  const id = useId();
  const { lower, upper } = column;
  const told = (end: number) => format.value(end, column, true);
  const least = [wish.low, asks ? lower : null].filter((end) => typeof end === "number");
  const most = [wish.high, asks ? upper : null].filter((end) => typeof end === "number");
  const ends = [
    { end: "low", label: say("atLeast"), low: null, high: most.length ? Math.min(...most) : null },
    { end: "high", label: say("atMost"), low: least.length ? Math.max(...least) : null, high: null },
  ] as const;
  const idle = (end: "low" | "high", value: number) => (end === "low" ? lower !== null && value <= lower : upper !== null && value >= upper);
  const known = lower !== null && upper !== null && Number.isFinite(lower) && Number.isFinite(upper);
  return (
    <>
      <div class="range">
        {ends.map(({ end, label, low, high }) => (
          <div key={end}>
            <label for={`${id}-${end}`}>{label}</label>
            <NumberField
              id={`${id}-${end}`}
              column={column}
              label={`${column.title}: ${label}`}
              value={wish[end]}
              takes={{ ...ANYTHING, low, high }}
              remark={(value) => (asks && idle(end, value) ? say("noLimit") : "")}
              describedBy={`${id}-range`}
              onRead={(value) => onChange({ ...wish, [end]: value })}
            />
          </div>
        ))}
      </div>
      <p class="hint" id={`${id}-range`}>
        {known && say(asks ? "allowed" : "inThese", { low: told(lower), high: told(upper) })}
      </p>
    </>
  );
}
