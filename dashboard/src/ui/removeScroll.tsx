import { useEffect, type ElementType, type ReactNode, type Ref } from "react";

/** Stands in for `react-remove-scroll`: a class on the page instead of an inline style. */
export function RemoveScroll({
  as,
  children,
  ref,
}: {
  as?: ElementType;
  allowPinchZoom?: boolean;
  shards?: unknown;
  children: ReactNode;
  ref?: Ref<HTMLElement>;
}): ReactNode {
  useEffect(() => {
    const root = document.documentElement;
    const depth = Number(root.dataset.locked ?? 0) + 1;
    root.dataset.locked = String(depth);
    return () => {
      const left = Number(root.dataset.locked ?? 1) - 1;
      if (left > 0) root.dataset.locked = String(left);
      else delete root.dataset.locked;
    };
  }, []);
  if (as) {
    const As = as;
    return <As ref={ref as Ref<HTMLElement>}>{children}</As>;
  }
  return <div ref={ref as Ref<HTMLDivElement>}>{children}</div>;
}
