// One value of a row, to be filled in or moved.

import { useId } from "preact/hooks";
import { useSpeech } from "../language";
import type { Cell, Column, Entered } from "../types";
import { Distribution } from "./distribution";
import { NumberField } from "./number";

interface Props {
  column: Column;
  value: Entered;
  today: Cell;
  /** With a slider over the distribution of the column. */
  slider?: boolean;
  /** Whether every sign that is typed is heard, not only the text that is left. */
  live?: boolean;
  /** Times that somebody wanted to go on. */
  tried?: number;
  onChange: (value: Entered) => void;
}

/** The ends of a column's scale: where most people are, with the values that are shown on it. */
export function endsOf(column: Column, ...values: Entered[]): [number, number] | null {
  const edges = column.distribution && "edges" in column.distribution ? column.distribution.edges : [];
  const known = [...(edges.length ? edges : [column.lower, column.upper]), ...values].filter((end): end is number => typeof end === "number" && Number.isFinite(end));
  const [low, high] = [Math.min(...known), Math.max(...known)];
  return known.length && low < high ? [low, high] : null;
}

export function Field({ column, value, today, slider, live, tried = 0, onChange }: Props) {
  const { say, format } = useSpeech();
  const id = useId();
  const label = (
    <label for={id}>
      <bdi>{column.title}</bdi>
      {column.unit && <span class="quiet"> {say("inUnit", { unit: column.unit })}</span>}
    </label>
  );
  if (column.kind === "number" && !column.categories.length) {
    const ends = endsOf(column, today, value);
    const number = typeof value === "number" || value === undefined ? value : null;
    const [low, high] = column.seen ?? [-Infinity, Infinity];
    const told = (each: number) => format.value(each, column, true);
    const usual = column.seen && { low: told(low), high: told(high) };
    const { among } = column.takes;
    return (
      <div class="field">
        {label}
        {slider && ends && (
          <div class="slide">
            <Distribution column={column} ends={ends} today={today} now={value ?? null} />
            <input
              type="range"
              min={ends[0]}
              max={ends[1]}
              step={column.step ?? (column.integer ? 1 : (ends[1] - ends[0]) / 200)}
              value={number ?? ends[0]}
              aria-label={column.title}
              aria-valuetext={format.value(number ?? null, column)}
              onInput={(event) => onChange(Number(event.currentTarget.value))}
            />
          </div>
        )}
        <NumberField
          id={id}
          column={column}
          value={number}
          takes={column.takes}
          range={among ? say("possible", { among: among.map(told).join(", ") }) : usual ? say("usual", usual) : ""}
          remark={(read) => (usual && (read < low || read > high) ? say("unusual", usual) : "")}
          needed={!column.nullable}
          live={live ?? false}
          tried={tried}
          onRead={onChange}
        />
      </div>
    );
  }
  const chosen = value ?? null;
  const missing = tried > 0 && chosen === null && !column.nullable;
  const missed = { "aria-invalid": missing || undefined, "aria-describedby": missing ? `${id}-said` : undefined };
  const known = column.categories.includes(chosen);
  return (
    <div class="field">
      {label}
      {column.categories.length ? (
        <>
          {slider && <Distribution column={column} today={today} now={chosen} />}
          <select
            id={id}
            {...missed}
            value={String(known ? column.categories.indexOf(chosen) : -1)}
            onChange={(event) => onChange(column.categories[Number(event.currentTarget.value)] ?? null)}
          >
            {(!known || column.nullable) && <option value="-1">{chosen === null || column.nullable ? say("missing") : format.value(chosen, column)}</option>}
            {column.categories.map((each, k) => (
              <option key={k} value={String(k)}>
                {format.value(each, column)}
              </option>
            ))}
          </select>
        </>
      ) : (
        <input id={id} type="text" {...missed} value={String(chosen ?? "")} onInput={(event) => onChange(event.currentTarget.value || null)} />
      )}
      {missing && (
        <p class="hint" id={`${id}-said`}>
          <strong>{say("fillInThis")}</strong>
        </p>
      )}
    </div>
  );
}
