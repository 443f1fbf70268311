// One value of a row, to be filled in or moved.

import { useId } from "preact/hooks";
import { useSpeech } from "../language";
import type { Cell, Column } from "../types";
import { Distribution } from "./distribution";

interface Props {
  column: Column;
  value: Cell;
  today: Cell;
  /** With a slider over the distribution of the column. */
  slider?: boolean;
  onChange: (value: Cell) => void;
}

/** The ends of a column's scale: where most people are, with the values that are shown on it. */
export function endsOf(column: Column, ...values: Cell[]): [number, number] | null {
  const edges = column.distribution && "edges" in column.distribution ? column.distribution.edges : [];
  const known = [...(edges.length ? edges : [column.lower, column.upper]), ...values].filter((end): end is number => typeof end === "number" && Number.isFinite(end));
  const [low, high] = [Math.min(...known), Math.max(...known)];
  return known.length && low < high ? [low, high] : null;
}

export function Field({ column, value, today, slider, onChange }: Props) {
  const { say, format } = useSpeech();
  const id = useId();
  const ends = column.kind === "number" ? endsOf(column, today, value) : null;
  const step = column.step ?? (column.integer ? 1 : "any");
  const fine = ends && (column.step ?? (column.integer ? 1 : (ends[1] - ends[0]) / 200));
  const label = (
    <label for={id}>
      <bdi>{column.title}</bdi>
      {column.unit && <span class="quiet"> {say("inUnit", { unit: column.unit })}</span>}
    </label>
  );
  if (column.categories.length) {
    const known = column.categories.some((each) => each === value);
    return (
      <div class="field">
        {label}
        {slider && <Distribution column={column} today={today} now={value} />}
        <select id={id} value={String(known ? column.categories.indexOf(value) : -1)} onChange={(event) => onChange(column.categories[Number(event.currentTarget.value)] ?? null)}>
          {(!known || column.nullable) && <option value="-1">{value === null || column.nullable ? say("missing") : format.value(value, column)}</option>}
          {column.categories.map((each, k) => (
            <option key={k} value={String(k)}>
              {format.value(each, column)}
            </option>
          ))}
        </select>
      </div>
    );
  }
  if (column.kind !== "number") {
    return (
      <div class="field">
        {label}
        <input id={id} type="text" value={value === null ? "" : String(value)} onInput={(event) => onChange(event.currentTarget.value || null)} />
      </div>
    );
  }
  const read = (text: string) => onChange(text.trim() === "" || Number.isNaN(Number(text)) ? null : Number(text));
  return (
    <div class="field">
      {label}
      {slider && ends && (
        <div class="slide">
          <Distribution column={column} ends={ends} today={today} now={value} />
          <input
            type="range"
            min={ends[0]}
            max={ends[1]}
            step={fine ?? "any"}
            value={typeof value === "number" ? value : ends[0]}
            aria-label={column.title}
            aria-valuetext={format.value(value, column)}
            onInput={(event) => read(event.currentTarget.value)}
          />
        </div>
      )}
      <input
        id={id}
        type="number"
        inputMode="decimal"
        step={slider ? step : "any"}
        value={typeof value === "number" ? value : ""}
        onInput={(event) => read(event.currentTarget.value)}
      />
    </div>
  );
}
