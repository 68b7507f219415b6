import { useRouter } from "@tanstack/react-router";
import type { ReactNode } from "react";

import { Visible } from "./hidden";

/** A sentence of the server, in which names stand between backticks. */
export function Words({ text, name = plainName }: { text: string; name?: (name: string) => ReactNode }): ReactNode {
  const pieces = text.split("`");
  // A single mark is part of the sentence.
  if (pieces.length % 2 === 0) return <Visible text={text} />;
  return pieces.map((piece, index) => (index % 2 === 0 ? <Visible key={index} text={piece} /> : <span key={index}>{name(piece)}</span>));
}

function plainName(name: string): ReactNode {
  return (
    <code>
      <Visible text={name} />
    </code>
  );
}

/** A page of the dashboard. */
const PAGE = /^\/(?:p\/[\w-]+|s\/(?:\w+:)?[\w-]+\/[a-z]+|\?item=[\w-]+)$/;

/** A refusal of the server. The pages that it names are links. */
export function Refusal({ text }: { text: string }): ReactNode {
  const router = useRouter({ warn: false }) as ReturnType<typeof useRouter> | undefined;
  const link = (page: string) => (
    <a
      href={page}
      onClick={(event) => {
        if (!router || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        router.history.push(page);
      }}
    >
      {page}
    </a>
  );
  return <Words text={text} name={(name) => (PAGE.test(name) ? link(name) : plainName(name))} />;
}
