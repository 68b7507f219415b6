import type { ReactNode } from "react";

import { Visible } from "./hidden";

/** A sentence of the server, in which names stand between backticks. */
export function Words({ text }: { text: string }): ReactNode {
  const pieces = text.split("`");
  // A single mark is part of the sentence.
  if (pieces.length % 2 === 0) return <Visible text={text} />;
  return pieces.map((piece, index) =>
    index % 2 === 0 ? (
      <Visible key={index} text={piece} />
    ) : (
      <code key={index}>
        <Visible text={piece} />
      </code>
    ),
  );
}
