import type { ReactNode } from "react";

import { t, type TextKey } from "../texts/t";
import { Keys } from "../ui/basics";
import { Dialog } from "../ui/Dialog";
import { MOD } from "./keys";

const GROUPS: readonly { title: TextKey; keys: readonly (readonly [string, TextKey])[] }[] = [
  {
    title: "keys.everywhere",
    keys: [
      [`${MOD}K`, "keys.palette"],
      ["/", "keys.search"],
      ["i", "keys.inbox"],
      ["?", "keys.help"],
    ],
  },
  {
    title: "keys.lists",
    keys: [
      ["j", "keys.next"],
      ["k", "keys.previous"],
      ["Enter", "keys.open"],
      ["o", "keys.page"],
      ["x", "keys.pick"],
      ["s", "keys.notNow"],
    ],
  },
  {
    title: "keys.plan",
    keys: [
      ["a", "keys.approve"],
      ["r", "keys.revise"],
      ["c", "keys.comment"],
      ["e", "keys.execution"],
      ["d", "keys.changes"],
      ["x", "keys.tick"],
      [`${MOD}Enter`, "keys.send"],
    ],
  },
  {
    title: "keys.ask",
    keys: [
      ["1", "keys.once"],
      ["2", "keys.forPlan"],
      ["3", "keys.always"],
      ["n", "keys.no"],
    ],
  },
];

export function KeyHelp({ open, onClose }: { open: boolean; onClose: () => void }): ReactNode {
  return (
    <Dialog open={open} onClose={onClose} title={t("keys.title")}>
      <div className="key-help" role="group" aria-label={t("keys.title")} tabIndex={0}>
        {GROUPS.map((group) => (
          <section key={group.title}>
            <h3>{t(group.title)}</h3>
            <dl>
              {group.keys.map(([keys, words]) => (
                <div key={words}>
                  <dt>
                    <Keys of={keys} />
                    <span className="visually-hidden">{keys}</span>
                  </dt>
                  <dd>{t(words)}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}
