// All people of a batch. Only the lines in sight are in the page, so that ten thousand scroll as ten do.

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { type Filter, type Line, type SortKey, filtered, groupOf, groups, linesOf, sorted } from "../everybody";
import { useSpeech } from "../language";
import { spoken } from "../problems";
import { called, meaning } from "../statuses";
import type { Offers, Person, Source } from "../types";
import type { Key } from "../words";
import { Chip, Failed } from "./parts";

const LINE = 48; // pixels of a line, as in the style sheet
const BEYOND = 8; // lines above and below those in sight
const MOST_GROUPS = 30;

/** What says whether plans last: its name in the table and that of its mean; nothing if nobody was asked. */
function lasting({ jury, guided, check }: Offers): [Key, Key] | null {
  if (check) return ["survivalLeast", "meanBound"];
  return jury ? (guided ? ["guiding", "meanGuiding"] : ["survivalShort", "meanShare"]) : null;
}

/** What an analyst looked at last, so that they come back to it. */
export interface Looked {
  people: Person[];
  total: number;
  filter: Filter;
  key: SortKey;
  down: boolean;
  scroll: number;
}

export const LOOK: Looked = { people: [], total: 0, filter: { text: "", status: "", group: null, value: null }, key: "id", down: false, scroll: 0 };

interface Props {
  source: Source;
  looked: Looked;
  onLook: (looked: Partial<Looked>) => void;
  onChoose: (person: Person) => void;
}

export function Everybody({ source, looked, onLook, onChoose }: Props) {
  const speech = useSpeech();
  const { say, format } = speech;
  const { people, total, filter, key, down } = looked;
  const [error, setError] = useState("");
  const running = useRef<AbortController | null>(null);
  const [busy, setBusy] = useState(false);
  useEffect(() => () => running.current?.abort(), []);

  const start = () => {
    const now = new AbortController();
    running.current = now;
    setBusy(true);
    setError("");
    source
      .everybody((some, all) => onLook({ people: some, total: all }), now.signal)
      .catch((failure: unknown) => !now.signal.aborted && setError(spoken(failure, speech)))
      .finally(() => setBusy(false));
  };
  useEffect(() => {
    if (!source.offers.asks && !people.length) start();
  }, [source]);

  const lines = useMemo(() => linesOf(people, source.offers.check), [source, people]);
  const kept = useMemo(() => filtered(lines, filter), [lines, filter]);
  const shown = useMemo(() => sorted(kept, key, down, filter.group), [kept, key, down, filter.group]);
  const statuses = useMemo(() => [...new Set(lines.map((line) => line.status))].sort(), [lines]);
  const columns = useMemo(() => groupable(source, people), [source, people]);
  const change = (some: Partial<Filter>) => onLook({ filter: { ...filter, ...some }, scroll: 0 });

  return (
    <div class="everybody">
      <header class="who">
        <h1>{say("everybody")}</h1>
        <p>{say("everybodyLead")}</p>
      </header>
      {source.offers.asks && (
        <div class="actions">
          <button type="button" class="main" disabled={busy || !source.offers.search} onClick={start}>
            {say("explainAll")}
          </button>
          {busy && (
            <button type="button" onClick={() => running.current?.abort()}>
              {say("stop")}
            </button>
          )}
          {!source.offers.search && <p class="quiet">{say("noTable")}</p>}
        </div>
      )}
      <p role="status" class="quiet">
        {busy && say("explained", { n: people.length, total: format.count(total) })}
      </p>
      {error && <Failed error={error} retry={start} />}
      {people.length > 0 && (
        <>
          <Tiles lines={kept} offers={source.offers} />
          {!source.offers.check && (source.offers.guided || !source.offers.jury) && <p>{say("notMeasured")}</p>}
          <section class="panel" aria-labelledby="filters">
            <h2 id="filters">{say("filters")}</h2>
            <div class="fields">
              <div class="field">
                <label for="filter-text">{say("searchFor")}</label>
                <input id="filter-text" type="search" value={filter.text} onInput={(event) => change({ text: event.currentTarget.value })} />
              </div>
              <div class="field">
                <label for="filter-status">{say("outcome")}</label>
                <select id="filter-status" value={filter.status} onChange={(event) => change({ status: event.currentTarget.value })}>
                  <option value="">{say("all")}</option>
                  {statuses.map((status) => (
                    <option key={status} value={status}>
                      {called(status, say)}
                    </option>
                  ))}
                </select>
              </div>
              <div class="field">
                <label for="filter-group">{say("groupBy")}</label>
                <select
                  id="filter-group"
                  value={String(filter.group ?? "")}
                  onChange={(event) => change({ group: event.currentTarget.value === "" ? null : Number(event.currentTarget.value), value: null })}
                >
                  <option value="">{say("nothing")}</option>
                  {columns.map((k) => (
                    <option key={k} value={String(k)}>
                      {source.columns[k]?.title}
                    </option>
                  ))}
                </select>
              </div>
            </div>
            {filter.group !== null && (
              <Groups source={source} lines={filtered(lines, { ...filter, value: null })} column={filter.group} chosen={filter.value} onChoose={(value) => change({ value })} />
            )}
          </section>
          <Table
            source={source}
            lines={shown}
            total={lines.length}
            looked={looked}
            onSort={(by) => onLook(by === key ? { down: !down } : { key: by, down: false })}
            onScroll={(scroll) => onLook({ scroll })}
            onChoose={onChoose}
          />
        </>
      )}
    </div>
  );
}

/** Columns with few enough values to be groups. */
function groupable(source: Source, people: Person[]): number[] {
  return source.columns
    .map((_, k) => k)
    .filter((k) => {
      const seen = new Set<string>();
      for (const person of people) {
        seen.add(groupOf(person.row[k]));
        if (seen.size > MOST_GROUPS) return false;
      }
      return seen.size > 1;
    });
}

function Tiles({ lines, offers }: { lines: Line[]; offers: Offers }) {
  const { say, format } = useSpeech();
  const [all] = groups(lines.map((line) => ({ ...line, person: { ...line.person, row: [] } })), 0);
  const lasts = lasting(offers);
  const facts: [string, string][] = [
    [format.count(lines.length), say("people", { n: lines.length })],
    [format.count(all?.helped ?? 0), say("withPlan")],
    [format.amount(all?.cost ?? null), say("medianCost")],
    ...(lasts ? ([[format.share(all?.share ?? null), say(lasts[1])]] as [string, string][]) : []),
  ];
  return (
    <ul class="tiles">
      {facts.map(([number, words]) => (
        <li key={words}>
          <strong>{number}</strong> {words}
        </li>
      ))}
    </ul>
  );
}

function Groups({ source, lines, column, chosen, onChoose }: { source: Source; lines: Line[]; column: number; chosen: string | null; onChoose: (value: string | null) => void }) {
  const { say, format } = useSpeech();
  const rule = source.columns[column];
  const lasts = lasting(source.offers);
  const parts = groups(lines, column).sort((one, other) => other.people - one.people);
  if (!rule) return null;
  return (
    <div class="scroll" role="group" aria-label={say("byGroup", { column: rule.title })} tabIndex={0}>
      <table class="groups">
        <caption>{say("byGroup", { column: rule.title })}</caption>
        <thead>
          <tr>
            <th scope="col">
              <bdi>{rule.title}</bdi>
            </th>
            <th scope="col">{say("people", { n: 2 })}</th>
            <th scope="col">{say("withPlan")}</th>
            <th scope="col">{say("medianCost")}</th>
            {lasts && <th scope="col">{say(lasts[1])}</th>}
          </tr>
        </thead>
        <tbody>
          {parts.map((group) => (
            <tr key={group.value}>
              <th scope="row">
                <button type="button" class="plain" aria-pressed={chosen === group.value} onClick={() => onChoose(chosen === group.value ? null : group.value)}>
                  <bdi>{format.value(rule.kind === "number" && group.value !== "" ? Number(group.value) : group.value || null, rule)}</bdi>
                </button>
              </th>
              <td>{format.count(group.people)}</td>
              <td>
                {format.count(group.helped)} <span class="quiet">{format.share(group.helped / group.people)}</span>
              </td>
              <td>{format.amount(group.cost)}</td>
              {lasts && <td>{format.share(group.share)}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface TableProps {
  source: Source;
  lines: Line[];
  total: number;
  looked: Looked;
  onSort: (key: SortKey) => void;
  onScroll: (scroll: number) => void;
  onChoose: (person: Person) => void;
}

function Table({ source, lines, total, looked, onSort, onScroll, onChoose }: TableProps) {
  const { say, format } = useSpeech();
  const { key, down, filter } = looked;
  const box = useRef<HTMLDivElement>(null);
  const [scroll, setScroll] = useState(looked.scroll);
  const [height, setHeight] = useState(600);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return undefined;
    const measure = () => setHeight(element.clientHeight);
    measure();
    element.scrollTop = looked.scroll;
    const watched = new ResizeObserver(measure);
    watched.observe(element);
    return () => watched.disconnect();
  }, []);
  useEffect(() => {
    if (box.current && looked.scroll === 0) box.current.scrollTop = 0;
  }, [filter, key, down]);

  const begin = Math.max(0, Math.min(lines.length, Math.floor(scroll / LINE)) - BEYOND);
  const end = Math.min(lines.length, Math.ceil((scroll + height) / LINE) + BEYOND);
  const group = filter.group === null ? null : source.columns[filter.group];
  const lasts = lasting(source.offers);
  const heads: [SortKey, string, boolean][] = [
    ["id", say("person"), false],
    ...(group ? ([["group", group.title, false]] as [SortKey, string, boolean][]) : []),
    ["outcome", say("outcome"), false],
    ["changes", say("numberOfChanges"), true],
    ["cost", say("cost"), true],
    ...(lasts ? ([["share", say(lasts[0]), true]] as [SortKey, string, boolean][]) : []),
  ];
  return (
    <section class="panel" aria-labelledby="all">
      <h2 id="all">{say("allPeople")}</h2>
      <p role="status" class="quiet">
        {say("linesShown", { n: lines.length, total: format.count(total) })}
      </p>
      <div
        class="scroll list"
        ref={box}
        role="group"
        aria-labelledby="all"
        tabIndex={0}
        onScroll={(event) => setScroll(event.currentTarget.scrollTop)}
      >
        <table aria-rowcount={lines.length + 1}>
          <thead>
            <tr aria-rowindex={1}>
              {heads.map(([by, words, right]) => (
                <th key={by} scope="col" class={right ? "number" : undefined} aria-sort={by === key ? (down ? "descending" : "ascending") : "none"}>
                  <button type="button" class="plain" onClick={() => onSort(by)}>
                    <bdi>{words}</bdi>
                    <span class={by === key ? (down ? "sort down" : "sort up") : "sort"} aria-hidden="true" />
                  </button>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {begin > 0 && (
              <tr class="gap" aria-hidden="true">
                <td colSpan={heads.length} style={{ height: `${begin * LINE}px` }} />
              </tr>
            )}
            {lines.slice(begin, end).map((line, k) => (
              <tr key={begin + k} aria-rowindex={begin + k + 2}>
                <th scope="row">
                  <button
                    type="button"
                    class="plain link"
                    onClick={() => {
                      onScroll(box.current?.scrollTop ?? 0);
                      onChoose(line.person);
                    }}
                  >
                    <bdi>{line.person.id}</bdi>
                  </button>
                </th>
                {group && (
                  <td>
                    <bdi>{format.value(line.person.row[filter.group ?? 0] ?? null, group)}</bdi>
                  </td>
                )}
                <td title={meaning(line.status, say) || undefined}>
                  <Chip kind={line.outcome === "none" ? "no" : line.outcome === "plan" ? "plain" : "yes"}>{called(line.status, say)}</Chip>
                </td>
                <td class="number">{line.changes === null ? "–" : format.count(line.changes)}</td>
                <td class="number">{format.amount(line.cost)}</td>
                {lasts && <td class="number">{format.share(line.share)}</td>}
              </tr>
            ))}
            {end < lines.length && (
              <tr class="gap" aria-hidden="true">
                <td colSpan={heads.length} style={{ height: `${(lines.length - end) * LINE}px` }} />
              </tr>
            )}
          </tbody>
        </table>
      </div>
    </section>
  );
}
