// What a person says about every column: easy, hard, out of the question, and how far they would go.

import { useSpeech } from "../language";
import { NO_WISH, isWish } from "../plans";
import type { Cell, Column, Ease, Wish, Wishes } from "../types";
import { Distribution, Legend } from "./distribution";
import { endsOf } from "./field";

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
        return column && <Wished key={column.name} column={column} today={row[k] ?? null} wish={wishes.get(k) ?? NO_WISH} onChange={(wish) => set(k, wish)} />;
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

function Wished({ column, today, wish, onChange }: { column: Column; today: Cell; wish: Wish; onChange: (wish: Wish) => void }) {
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
            <input type="radio" name={name} value={ease} checked={wish.ease === ease} onChange={() => onChange({ ...wish, ease })} />
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
            <div class="range">
              <Limit column={column} label={say("atLeast")} value={wish.low} onChange={(low) => onChange({ ...wish, low })} />
              <Limit column={column} label={say("atMost")} value={wish.high} onChange={(high) => onChange({ ...wish, high })} />
            </div>
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

function Limit({ column, label, value, onChange }: { column: Column; label: string; value: number | null; onChange: (value: number | null) => void }) {
  return (
    <label>
      <span>{label}</span>
      <input
        type="number"
        inputMode="decimal"
        step="any"
        value={value ?? ""}
        aria-label={`${column.title}: ${label}`}
        onInput={(event) => {
          const text = event.currentTarget.value.trim();
          onChange(text === "" || Number.isNaN(Number(text)) ? null : Number(text));
        }}
      />
    </label>
  );
}
