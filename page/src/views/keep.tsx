// Plans side by side, a notice to print, a promise and its receipt.

import { useState } from "preact/hooks";
import { useSpeech } from "../language";
import { openNotice } from "../notice";
import { own } from "../plans";
import { spoken } from "../problems";
import type { Column, Offers, Person, Plan, Receipt, Source } from "../types";
import { Changes, Failed, Judged, Name } from "./parts";

export interface Kept {
  person: Person;
  plan: Plan;
  number: number;
}

export function SideBySide({ kept, columns, offers, onDrop }: { kept: Kept[]; columns: Column[]; offers: Offers; onDrop: (kept: Kept) => void }) {
  const { say, format } = useSpeech();
  if (!kept.length) return null;
  const changed = columns.map((_, k) => k).filter((k) => kept.some(({ plan }) => plan.changes.some((change) => change.column === k)));
  return (
    <section class="panel" aria-labelledby="kept">
      <h2 id="kept">{say("sideBySide")}</h2>
      <div class="scroll" role="group" aria-labelledby="kept" tabIndex={0}>
        <table class="compare">
          <thead>
            <tr>
              <td />
              {kept.map((each, k) => (
                <th key={k} scope="col">
                  {say("planNumber", { n: each.number })}
                  <span class="quiet">
                    <Name person={each.person} />
                  </span>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {changed.map((k) => {
              const column = columns[k];
              return (
                column && (
                  <tr key={column.name}>
                    <th scope="row">
                      <bdi>{column.title}</bdi>
                    </th>
                    {kept.map(({ plan }, i) => {
                      const change = plan.changes.find((each) => each.column === k);
                      return <td key={i}>{change ? <bdi>{format.value(change.to, column, true)}</bdi> : <span class="quiet">{say("asItIs")}</span>}</td>;
                    })}
                  </tr>
                )
              );
            })}
            <tr>
              <th scope="row">{say("cost")}</th>
              {kept.map(({ plan }, i) => (
                <td key={i}>{format.amount(plan.cost)}</td>
              ))}
            </tr>
            <tr>
              <th scope="row">{say("numberOfChanges")}</th>
              {kept.map(({ plan }, i) => (
                <td key={i}>{format.count(own(plan).length)}</td>
              ))}
            </tr>
            <tr>
              <th scope="row">{say("survival")}</th>
              {kept.map(({ plan }, i) => (
                <td key={i}>
                  <Judged plan={plan} offers={offers} />
                </td>
              ))}
            </tr>
            <tr>
              <td />
              {kept.map((each, i) => (
                <td key={i}>
                  <button type="button" onClick={() => onDrop(each)}>
                    {say("drop")}
                    <span class="hidden"> {say("planNumber", { n: each.number })}</span>
                  </button>
                </td>
              ))}
            </tr>
          </tbody>
        </table>
      </div>
    </section>
  );
}

/** What can be done with the chosen plan. */
export function Take({ person, plan, number, source }: { person: Person; plan: Plan; number: number; source: Source }) {
  const speech = useSpeech();
  const { say, format } = speech;
  const [error, setError] = useState("");
  const [asked, setAsked] = useState(false);
  const [id, setId] = useState(person.id);
  const [receipt, setReceipt] = useState<Receipt | null>(null);
  const [busy, setBusy] = useState(false);

  const print = () => {
    setError("");
    openNotice(() => source.notice(person, plan, format.locale)).catch((failure: unknown) => setError(spoken(failure, speech)));
  };
  const promise = (event: Event) => {
    event.preventDefault();
    if (busy || !id.trim()) return;
    setBusy(true);
    setError("");
    source
      .promise(person, plan, id.trim())
      .then(setReceipt, (failure: unknown) => setError(spoken(failure, speech)))
      .finally(() => setBusy(false));
  };
  return (
    <section class="panel take" aria-labelledby="take">
      <h2 id="take">{say("takePlan", { n: number })}</h2>
      <div class="actions">
        {person.notice ? (
          <a class="button" href={person.notice} target="_blank" rel="noopener">
            {say("openNotice")}
          </a>
        ) : (
          source.offers.asks &&
          source.offers.notice && (
            <button type="button" onClick={print}>
              {say("openNotice")}
            </button>
          )
        )}
        {source.offers.ledger && !receipt && (
          <button type="button" class="main" aria-expanded={asked} onClick={() => setAsked(!asked)}>
            {say("promiseThis")}
          </button>
        )}
      </div>
      {asked && !receipt && (
        <form class="promise" onSubmit={promise}>
          <label>
            <span>{say("promiseTo")}</span>
            <input type="text" required maxLength={200} value={id} onInput={(event) => setId(event.currentTarget.value)} />
          </label>
          <p class="quiet">{say("promiseLead")}</p>
          <button type="submit" class="main" disabled={busy}>
            {say(busy ? "promising" : "promiseNow")}
          </button>
        </form>
      )}
      {error && <Failed error={error} />}
      <div role="status">
        {receipt && (
          <div class="receipt">
            <h3>{say("receipt")}</h3>
            <dl class="row">
              {(
                [
                  ["receiptId", receipt.id],
                  ["receiptPerson", receipt.person],
                  ["receiptMade", format.day(receipt.made)],
                  ["receiptUntil", format.day(receipt.until)],
                ] as const
              ).map(([key, value]) => (
                <div key={key}>
                  <dt>{say(key)}</dt>
                  <dd>
                    <bdi>{value}</bdi>
                  </dd>
                </div>
              ))}
              <div>
                <dt>{say("receiptCode")}</dt>
                <dd>
                  <code>{receipt.code}</code>
                </dd>
              </div>
            </dl>
            <Changes plan={plan} columns={source.columns} />
            <p class="quiet">{say("receiptLead")}</p>
            <button type="button" onClick={() => printOnly("receipt")}>
              {say("printReceipt")}
            </button>
          </div>
        )}
      </div>
    </section>
  );
}

function printOnly(what: string): void {
  document.documentElement.dataset["print"] = what;
  window.print();
  delete document.documentElement.dataset["print"];
}

/** Whether a receipt that somebody brings is one of ours. */
export function CheckReceipt({ source }: { source: Source }) {
  const speech = useSpeech();
  const { say, format } = speech;
  const [id, setId] = useState("");
  const [code, setCode] = useState("");
  const [said, setSaid] = useState<Receipt | null>(null);
  const [error, setError] = useState("");
  const check = (event: Event) => {
    event.preventDefault();
    setSaid(null);
    setError("");
    source.receipt(id.trim(), code.trim()).then(setSaid, (failure: unknown) => setError(spoken(failure, speech)));
  };
  return (
    <details class="panel">
      <summary>{say("checkReceipt")}</summary>
      <form class="promise" onSubmit={check}>
        <label>
          <span>{say("receiptId")}</span>
          <input type="text" required inputMode="numeric" pattern="[0-9]+" maxLength={20} value={id} onInput={(event) => setId(event.currentTarget.value)} />
        </label>
        <label>
          <span>{say("receiptCode")}</span>
          <input type="text" required maxLength={100} value={code} onInput={(event) => setCode(event.currentTarget.value)} />
        </label>
        <button type="submit">{say("check")}</button>
      </form>
      {error && <Failed error={error} />}
      <p role="status">{said && say(said.verified ? "receiptGood" : "receiptBad", { person: said.person, until: format.day(said.until) })}</p>
    </details>
  );
}
